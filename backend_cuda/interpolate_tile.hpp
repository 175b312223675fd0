// What evaluation by tiles is told: the part of the source that a tile of the output needs.
#pragma once

#include "interpolate_spline.hpp"

#include <optional>

namespace warpalign::cuda {

/// Output pixels of a tile. A block's threads stand side by side on the earlier axes and go along
/// the last one together.
template <int dimensions>
struct TileShape;
template <>
struct TileShape<2> {
  static constexpr int width = 64, height = 64, depth = 1;
  static constexpr int last = height;
};
template <>
struct TileShape<3> {
  static constexpr int width = 16, height = 16, depth = 8;
  static constexpr int last = depth;
};

inline constexpr int tile_threads = 256;
inline constexpr float fixed_point = 65536.0f;  // 2^16

/// What the tiles of a transform have in common.
template <int dimensions>
struct TileSource {
  int extent[dimensions] = {};    // coefficients that a tile needs, of every alignment
  double least[dimensions] = {};  // the least coordinates, from the tile's first point
  // The transform's matrix by rows, split so that products with pixel numbers of a tile, and sums
  // of them, are exact in `high`.
  float high[dimensions * dimensions] = {}, low[dimensions * dimensions] = {};
  bool words = false;  // whether rows of coefficients are aligned for copies of four
};

/// backend::all_near() of an affine transform's points.
[[nodiscard]] bool all_near(const Evaluation& e, int dimensions);

/// None where tiles cannot be: for `wrap`, for points far away or far apart, and unless affine.
template <int dimensions>
[[nodiscard]] std::optional<TileSource<dimensions>> tile_source(const Evaluation& e, int degree);

/// Through the texture unit by tiles.
using TextureTileKernel = void (*)(TextureSources, const float*, Evaluation, TileSource<2>);
TextureTileKernel texture_tile_kernel_of(bool by_table, bool floats);

}  // namespace warpalign::cuda
