// The parameters of resampling in one kernel: the part of the source that a tile of the output
// needs.
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
  long long along_x[2] = {};  // steps per pixel along x, in fixed point
  long long along_y[2] = {};  // steps per pixel along y
};

/// Empty if the single kernel cannot serve the case: for the boundary mode `wrap`, for points that
/// are far away or far apart, and for transforms that are not affine.
[[nodiscard]] std::optional<ResampleSource> resample_source(const Evaluation& e);

/// The recursion. Its gain and that of the weights are applied at the end, by `scale`.
struct ResampleFilter {
  float z = 0;
  float start = 0;                       // 1 / (1 - z)
  float powers[resample_halo + 2] = {};  // of z
  float scale = 0;
};

}  // namespace warpalign::cuda
