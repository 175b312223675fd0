// Parameters of the kernel that resamples 2-D cubic splines under affine transforms, with prefilter
// and evaluation in one: the region of the source that a tile of the output needs, and the filter.
#pragma once

#include <warpalign/backend/prefilter_recursion.hpp>
#include <warpalign/backend/tiles.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace warpalign::backend {

inline constexpr int resample_tile = 64;  ///< output pixels of a tile along each axis
inline constexpr int resample_halo = streaming_halo(3);
inline constexpr int resample_columns = 128;  ///< columns of samples that are loaded for a tile
inline constexpr int resample_first = 16;     ///< the first of these columns that is kept
inline constexpr int max_kept_columns = resample_columns - resample_halo - resample_first;
inline constexpr int shear_group = 8;  ///< columns of a tile that share a vertical offset
/// Rows of samples that a kernel loads, halos included. There is one kernel for each number.
inline constexpr int few_rows = 104;
inline constexpr int many_rows = 120;

/// Parameters that all tiles of a transform share.
struct ResampleTiles {
  std::array<double, 2> minimum{};  ///< smallest coordinates, relative to the tile's first point
  int columns = 0;                  ///< columns of coefficients that a tile needs
  int rows = few_rows;              ///< rows of samples that are loaded
  bool steep = false;  ///< whether rows of the output run along columns of the source, roughly
  /// Each group of `shear_group` columns of a tile lies this many rows below the previous group
  /// (steep: each group of rows lies this many columns to the right).
  int shear = 0;
  /// Columns and rows by which the first tile begins before the output.
  std::array<int, 2> before{};
};

namespace resample_details {

struct Range {
  double minimum = std::numeric_limits<double>::max();
  double maximum = std::numeric_limits<double>::lowest();
};

/// The range of one coordinate over a tile.
[[nodiscard]] inline Range range_over_tile(const double* row, bool steep, int shear) {
  Range range;
  // The first and last columns of the groups determine the range.
  for (int i = 0; i < resample_tile; i += i % shear_group == 0 ? shear_group - 1 : 1) {
    for (const int end : {0, resample_tile - 1}) {
      const int sheared = end + shear * (i / shear_group);
      const double at = steep ? row[0] * sheared + row[1] * i : row[0] * i + row[1] * sheared;
      range.minimum = std::min(range.minimum, at);
      range.maximum = std::max(range.maximum, at);
    }
  }
  return range;
}

/// The number of coefficients for a range with any start, plus one more on either side.
[[nodiscard]] inline int coefficients_of(const Range& range) {
  constexpr int neighbours = 4;
  return static_cast<int>(std::ceil(range.maximum - range.minimum)) + neighbours + 2;
}

/// The tiles with the given shear; empty if they need more of the source than a kernel can load.
[[nodiscard]] inline std::optional<ResampleTiles> tiles_of(const double* m, bool steep, int shear) {
  const Range x = range_over_tile(m, steep, shear);
  const Range y = range_over_tile(m + 4, steep, shear);
  const int rows = coefficients_of(y) + 2 * resample_halo;
  ResampleTiles tiles;
  tiles.columns = coefficients_of(x);
  if (tiles.columns > max_kept_columns || rows > many_rows) return std::nullopt;
  tiles.rows = rows <= few_rows ? few_rows : many_rows;
  tiles.minimum = {x.minimum, y.minimum};
  tiles.steep = steep;
  tiles.shear = shear;
  tiles.before[steep ? 0 : 1] = std::max(0, shear * (resample_tile / shear_group - 1));
  return tiles;
}

inline constexpr int max_shear = shear_group / 2;

/// The shear that compensates half of the slope of the line in the source along which neighbouring
/// threads read. Their reads then conflict in fewer banks of shared memory and lie in fewer rows.
[[nodiscard]] inline int wanted_shear(const double* m, bool steep) {
  const double along = m[steep ? 5 : 4], across = m[steep ? 4 : 5];
  if (across == 0) return 0;
  return -static_cast<int>(
      std::clamp(std::round(max_shear * along / across), -1.0 * max_shear, 1.0 * max_shear));
}

}  // namespace resample_details

/// The tiles for a transform; empty if its points are too far away or too far apart for this
/// kernel. `matrix` is an affine matrix as in HomogeneousMatrix.
[[nodiscard]] inline std::optional<ResampleTiles> resample_tiles(const double* matrix,
                                                                 const Shape& output) {
  using namespace resample_details;
  if (!all_near(matrix, output, 2)) return std::nullopt;
  const bool steep = std::abs(matrix[4]) > std::abs(matrix[0]);
  const int wanted = wanted_shear(matrix, steep);
  std::optional<ResampleTiles> best;
  for (int shear = -max_shear; shear <= max_shear; ++shear) {
    const auto tiles = tiles_of(matrix, steep, shear);
    if (!tiles) continue;
    const auto cost = [wanted](const ResampleTiles& t) {
      return std::pair(t.rows, std::abs(t.shear - wanted));
    };
    if (!best || cost(*tiles) < cost(*best)) best = tiles;
  }
  return best;
}

/// The number of tiles across and down that cover an output.
[[nodiscard]] inline std::array<std::int64_t, 2> resample_grid(const Shape& output, bool steep,
                                                               int shear) {
  const int sheared = std::abs(shear) * (resample_tile / shear_group - 1);
  const auto count = [](std::int64_t pixels) {
    return (pixels + resample_tile - 1) / resample_tile;
  };
  return {count(output.width + (steep ? sheared : 0)),
          count(output.height + (steep ? 0 : sheared))};
}

/// The factor that the kernel applies once at the end: the gain of the filter along each axis,
/// divided by the factor of six by which the kernel's spline weights are too large along each axis.
/// `z` is the pole in single precision.
[[nodiscard]] inline double resample_scale(float z) {
  const std::array<double, 1> poles{z};
  const double gain = recursion_gain(poles);
  constexpr double weights = 36;
  return gain * gain / weights;
}

}  // namespace warpalign::backend
