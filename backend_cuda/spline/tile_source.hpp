// What evaluation by tiles is told: the part of the source that a tile of the output needs.
#pragma once

#include "spline/interpolate_spline.hpp"

#include <array>
#include <optional>

namespace warpalign::cuda {

inline constexpr int tile_threads = 256;

/// Output pixels of a tile of a plane. A block's threads stand side by side in rows and go down
/// together.
template <int rows>
struct TileOfRows {
  static constexpr int width = 64, height = rows;
};
using PlaneTile = TileOfRows<64>;

/// What the tiles of a transform have in common.
template <int dimensions>
struct TileSource {
  int extent[dimensions] = {};      // coefficients that a tile needs, of every alignment
  double minimum[dimensions] = {};  // the least coordinates, from the tile's first point
  /// Steps of each coordinate from pixel to pixel along each axis, in fixed point.
  long long along[dimensions][dimensions] = {};
  bool words = false;  // whether rows of coefficients are aligned for copies of four
};

/// Of tiles of these sides. None where tiles cannot be: for points far away or far apart, and
/// unless affine.
template <int dimensions>
[[nodiscard]] std::optional<TileSource<dimensions>> tile_source(const Evaluation& e, int degree,
                                                                const std::array<int, 3>& sides);
/// Of a plane's tiles, `height` rows high.
[[nodiscard]] std::optional<TileSource<2>> plane_source(const Evaluation& e, int degree,
                                                        int height = PlaneTile::height);

/// Tiles for images that tall ones are too few for. At the border the texture unit cannot help: a
/// tall tile there takes each of its threads through sixteen slow pixels, one after the other,
/// which nothing hides where there are hardly more tiles than multiprocessors.
using ShortTile = TileOfRows<8>;

/// Through the texture unit by tiles.
using TextureTileKernel = void (*)(TextureSources, const float*, Evaluation, TileSource<2>);
template <class Tile>
TextureTileKernel texture_tile_kernel_of(bool by_table, bool floats);

}  // namespace warpalign::cuda
