// The parameters of evaluation by tiles: the part of the source that a tile of the output needs.
#pragma once

#include "spline/interpolate_spline.hpp"

#include <array>
#include <optional>

namespace warpalign::cuda {

inline constexpr int tile_threads = 256;

/// The size of a tile of a plane, in output pixels. The threads of a block cover adjacent pixels of
/// rows and step down together.
template <int rows>
struct TileOfRows {
  static constexpr int width = 64, height = rows;
};
using PlaneTile = TileOfRows<64>;

/// The data that all tiles of a transform share.
template <int dimensions>
struct TileSource {
  int extent[dimensions] = {};      // coefficients that a tile needs, whatever its alignment
  double minimum[dimensions] = {};  // the minimum coordinates, relative to the tile's first point
  /// The steps of each coordinate from pixel to pixel along each axis, in fixed point.
  long long along[dimensions][dimensions] = {};
  bool words = false;  // whether rows of coefficients are aligned for copies of four
};

/// The source of tiles with these sides. Empty if tiles are not possible: for points that are far
/// away or far apart, and for transforms that are not affine.
template <int dimensions>
[[nodiscard]] std::optional<TileSource<dimensions>> tile_source(const Evaluation& e, int degree,
                                                                const std::array<int, 3>& sides);
/// The source of a plane's tiles that are `height` rows high.
[[nodiscard]] std::optional<TileSource<2>> plane_source(const Evaluation& e, int degree,
                                                        int height = PlaneTile::height);

/// Tiles for images that have too few tall ones. At the border of the image the texture unit cannot
/// help: there, each thread of a tall tile processes sixteen slow pixels one after the other, and
/// with hardly more tiles than multiprocessors no other work hides this latency.
using ShortTile = TileOfRows<8>;

/// Kernels for evaluation through the texture unit by tiles.
using TextureTileKernel = void (*)(TextureSources, const float*, Evaluation, TileSource<2>);
template <class Tile>
TextureTileKernel texture_tile_kernel_of(bool by_table, bool floats);

}  // namespace warpalign::cuda
