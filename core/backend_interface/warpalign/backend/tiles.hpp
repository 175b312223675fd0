// Parameters of evaluation by tiles: the region of the source that a tile of the output needs under
// an affine transform.
#pragma once

#include <warpalign/backend/stages/spline/interpolate.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>

namespace warpalign::backend {

/// Parameters that all tiles of a transform share, for the axes x, y and z. Entries of unused axes
/// are 0.
struct TileSource {
  /// Coefficients that a tile needs along each axis; along x they begin at a multiple of 4.
  std::array<int, 3> extent{};
  std::array<double, 3> minimum{};  ///< smallest coordinates, relative to the tile's first point
  /// The transform's matrix, row-major, split in two: products of `high` with a tile's pixel
  /// numbers, and sums of such products, are exact in float; `low` is the remainder.
  std::array<std::array<float, 3>, 3> high{}, low{};
};

/// The entries of TileSource::high are multiples of 1 / tile_fixed_point.
inline constexpr double tile_fixed_point = 65536;

/// Whether every point of the output is so near the origin that integer coordinates plus a tile's
/// extent do not overflow, and neighbouring points are at most 4 source pixels apart along each
/// axis. `matrix` is an affine matrix as in HomogeneousMatrix.
[[nodiscard]] inline bool all_near(const double* matrix, const Shape& output, int dimensions) {
  constexpr double limit = 0x1p29;
  constexpr double far_apart = 4;  // source pixels per output pixel
  const std::array<std::int64_t, 3> size{output.width, output.height, output.depth};
  const auto axes = static_cast<std::size_t>(dimensions);
  for (std::size_t axis = 0; axis < axes; ++axis) {
    const double* m = matrix + 4 * axis;
    double reach = std::abs(m[3]);
    for (std::size_t i = 0; i < axes; ++i) {
      if (!(std::abs(m[i]) <= far_apart)) return false;
      reach += std::abs(m[i]) * static_cast<double>(size[i]);
    }
    if (!(reach < limit)) return false;
  }
  return true;
}

/// The range of a coordinate over a tile, relative to the coordinate of the tile's first point.
struct TileRange {
  double minimum = 0, maximum = 0;
};

/// `row` is the row of the transform's matrix for the coordinate, `tile` the tile's sides in
/// pixels.
[[nodiscard]] inline TileRange tile_range(const double* row, const std::array<int, 3>& tile) {
  TileRange range;
  for (std::size_t i = 0; i < tile.size(); ++i) {
    const double side = row[i] * (tile[i] - 1);
    range.minimum += std::min(side, 0.0);
    range.maximum += std::max(side, 0.0);
  }
  return range;
}

/// The source region of the tiles; empty unless all_near(). `tile`: the sides of a tile in pixels.
[[nodiscard]] inline std::optional<TileSource> tile_source(const double* matrix,
                                                           const Shape& output, int dimensions,
                                                           int degree,
                                                           const std::array<int, 3>& tile) {
  if (!all_near(matrix, output, dimensions)) return std::nullopt;
  TileSource source;
  const auto axes = static_cast<std::size_t>(dimensions);
  for (std::size_t axis = 0; axis < axes; ++axis) {
    const TileRange range = tile_range(matrix + 4 * axis, tile);
    for (std::size_t i = 0; i < axes; ++i) {
      const double entry = matrix[4 * axis + i];
      const double high = std::rint(entry * tile_fixed_point) / tile_fixed_point;
      source.high[axis][i] = static_cast<float>(high);
      source.low[axis][i] = static_cast<float>(entry - high);
    }
    source.minimum[axis] = range.minimum;
    // One more on either side, because a tie may be rounded either way.
    source.extent[axis] =
        static_cast<int>(std::ceil(range.maximum - range.minimum)) + degree + 1 + 2;
  }
  source.extent[0] = (source.extent[0] + 3 + 3) / 4 * 4;  // begins at a multiple of 4
  return source;
}

/// The same for a HomogeneousMatrix. Empty also for `period_minus_one` and for transforms that are
/// not affine.
[[nodiscard]] inline std::optional<TileSource> tile_source(const HomogeneousMatrix& transform,
                                                           const Shape& output,
                                                           InterpolateDetails::Points points,
                                                           int dimensions, int degree,
                                                           const std::array<int, 3>& tile) {
  if (!transform.is_affine() || points == InterpolateDetails::Points::period_minus_one) {
    return std::nullopt;
  }
  return tile_source(transform.m.data(), output, dimensions, degree, tile);
}

}  // namespace warpalign::backend
