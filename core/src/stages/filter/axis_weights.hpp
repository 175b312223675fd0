// Gaussian weights of separable filters, computed in double precision.
#pragma once

#include <warpalign/backend/stages/filter/axis_weights.hpp>

namespace warpalign::detail {

/// The grids along one axis: output i of n_output lies at origin + i spacing, in pixels of the
/// input, which has n_input pixels.
struct AxisGrid {
  std::int64_t n_input = 0;
  std::int64_t n_output = 0;
  double origin = 0;
  double spacing = 1;
};

/// The weights of a Gaussian that is truncated at 4 sigma and at the edges; they sum to 1 for each
/// output. Every output must lie within half a pixel of the input.
backend::AxisWeights gaussian_weights(const AxisGrid& grid, double sigma);

/// The same for several stacked inputs, each with its own outputs, so that a stage can filter
/// stacked images as one tall image.
backend::AxisWeights gaussian_weights(const AxisGrid& grid, double sigma, std::int64_t inputs);

}  // namespace warpalign::detail
