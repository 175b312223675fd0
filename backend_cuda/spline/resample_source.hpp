// What resampling in one kernel is told: the part of the source that a tile of the output needs.
#pragma once

#include "spline/interpolate_spline.hpp"

#include <warpalign/backend/resample_tiles.hpp>

#include <optional>

namespace warpalign::cuda {

using backend::few_rows;
using backend::many_rows;
using backend::resample_columns;
using backend::resample_first;
using backend::resample_halo;
using backend::resample_tile;
using backend::shear_group;

/// backend::ResampleTiles, and the transform's steps.
struct ResampleSource {
  double minimum[2] = {};
  int columns = 0;
  int rows = few_rows;
  bool steep = false;
  int shear = 0;
  int before[2] = {};
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
