// What resampling in one kernel is told: the part of the source that a tile of the output needs,
// and the filter. For cubic splines in the plane under affine transforms.
#pragma once

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

inline constexpr int resample_tile = 64;      ///< output pixels along each axis
inline constexpr int resample_halo = 12;      ///< as the exact prefilter's for one pole
inline constexpr int resample_columns = 128;  ///< of samples that are loaded for a tile
inline constexpr int resample_first = 16;     ///< of these, the first that is kept
inline constexpr int max_kept_columns = resample_columns - resample_halo - resample_first;
inline constexpr int shear_group = 8;  ///< columns of a tile that lie at one height
inline constexpr int few_rows = 104;   ///< of samples, halos included; there is a kernel for
inline constexpr int many_rows = 120;  ///< either

/// What the tiles of a transform have in common.
struct ResampleTiles {
  std::array<double, 2> minimum{};  ///< the least coordinates, from the tile's first point
  int columns = 0;                  ///< of coefficients that a tile needs
  int rows = few_rows;              ///< of samples that are loaded
  bool steep = false;               ///< rows of the output go along columns of the source, rather
  /// Of the columns of a tile (steep: of its rows), a group lies by so many rows (columns) below
  /// (beside) the group before.
  int shear = 0;
  std::array<int, 2>
      before{};  ///< columns and rows by which the first tile begins before the output
};

namespace resample_details {

struct Range {
  double minimum = std::numeric_limits<double>::max();
  double greatest = std::numeric_limits<double>::lowest();
};

/// One coordinate over a tile.
[[nodiscard]] inline Range range_over_tile(const double* row, bool steep, int shear) {
  Range range;
  // A group's ends decide.
  for (int i = 0; i < resample_tile; i += i % shear_group == 0 ? shear_group - 1 : 1) {
    for (const int end : {0, resample_tile - 1}) {
      const int sheared = end + shear * (i / shear_group);
      const double at = steep ? row[0] * sheared + row[1] * i : row[0] * i + row[1] * sheared;
      range.minimum = std::min(range.minimum, at);
      range.greatest = std::max(range.greatest, at);
    }
  }
  return range;
}

/// Coefficients that a range needs, wherever it begins, with one more on either side.
[[nodiscard]] inline int coefficients_of(const Range& range) {
  constexpr int neighbours = 4;
  return static_cast<int>(std::ceil(range.greatest - range.minimum)) + neighbours + 2;
}

/// Tiles of that shear, if a kernel takes so much of the source.
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

/// The shear that levels half of the way what neighbouring threads go along: what they read then
/// meets in fewer banks of shared memory, and lies in fewer rows.
[[nodiscard]] inline int wanted_shear(const double* m, bool steep) {
  const double along = m[steep ? 5 : 4], across = m[steep ? 4 : 5];
  if (across == 0) return 0;
  return -static_cast<int>(
      std::clamp(std::round(max_shear * along / across), -1.0 * max_shear, 1.0 * max_shear));
}

}  // namespace resample_details

/// None where one kernel cannot do it: for points far away or far apart. `matrix`: of an affine
/// transform, as in Transform.
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

/// Tiles side by side and one below the other that cover an output.
[[nodiscard]] inline std::array<std::int64_t, 2> resample_grid(const Shape& output, bool steep,
                                                               int shear) {
  const int sheared = std::abs(shear) * (resample_tile / shear_group - 1);
  const auto count = [](std::int64_t pixels) {
    return (pixels + resample_tile - 1) / resample_tile;
  };
  return {count(output.width + (steep ? sheared : 0)),
          count(output.height + (steep ? 0 : sheared))};
}

/// The factor that the filter of either axis leaves for the end, 1 - z twice, and that by which
/// sixfold weights are too large. `z`: the pole as kernels have it, in single precision.
[[nodiscard]] inline double resample_scale(float z) {
  const double gain = (1 - static_cast<double>(z)) * (1 - static_cast<double>(z));
  constexpr double weights = 36;
  return gain * gain / weights;
}

}  // namespace warpalign::backend
