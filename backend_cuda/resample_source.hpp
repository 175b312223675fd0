// What resampling in one kernel is told: the part of the source that a tile of the output needs.
#pragma once

#include "interpolate_spline.hpp"

#include <warpalign/backend/stages.hpp>

#include <optional>

namespace warpalign::cuda {

inline constexpr int resample_tile = 64;      // output pixels along each axis
inline constexpr int resample_halo = 12;      // as the exact prefilter's for one pole
inline constexpr int resample_columns = 128;  // of samples that are loaded for a tile
inline constexpr int resample_first = 16;     // of these, the first that is kept
inline constexpr int most_kept_columns = resample_columns - resample_halo - resample_first;
inline constexpr int shear_group = 8;  // columns of a tile that lie at one height
inline constexpr int few_rows = 104;   // of samples, halos included; there is a kernel for
inline constexpr int many_rows = 120;  // either

/// What the tiles of a transform have in common.
struct ResampleSource {
  double least[2] = {};  // the least coordinates, from the tile's first point
  int columns = 0;       // of coefficients that a tile needs
  int rows = few_rows;   // of samples that are loaded
  bool steep = false;    // rows of the output go along columns of the source, rather
  // Of the columns of a tile (steep: of its rows), a group lies by so many rows (columns) below
  // (beside) the group before.
  int shear = 0;
  int before[2] = {};         // columns and rows by which the first tile begins before the output
  long long along_x[2] = {};  // steps of a point, of x and of y, in fixed point
  long long along_y[2] = {};
};

/// None where one kernel cannot do it: for `wrap`, for points far away or far apart, and unless
/// affine.
[[nodiscard]] std::optional<ResampleSource> resample_source(const Evaluation& e);

/// The recursion, whose gain and the weights' is left for the end.
struct ResampleFilter {
  float z = 0;
  float start = 0;                       // 1 / (1 - z)
  float powers[resample_halo + 2] = {};  // of z
  float scale = 0;
};

}  // namespace warpalign::cuda
