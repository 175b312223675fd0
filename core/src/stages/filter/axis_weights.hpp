// Gaussian weights of separable stages, worked out in double.
#pragma once

#include <warpalign/backend/stages/filter/axis_weights.hpp>

namespace warpalign::detail {

/// Samples along one axis: output i lies at origin + i spacing of n_input pixels.
struct AxisGrid {
  std::int64_t n_input = 0;
  std::int64_t n_output = 0;
  double origin = 0;
  double spacing = 1;
};

/// Weights of a Gaussian cut off at 4 sigma, over the pixels that exist, summing to 1 for each
/// output. Every output must lie within half a pixel of the input.
backend::AxisWeights gaussian_weights(const AxisGrid& grid, double sigma);

}  // namespace warpalign::detail
