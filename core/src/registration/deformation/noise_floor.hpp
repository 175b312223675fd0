// The variance below which windows of an image count as without structure.
#pragma once

#include <warpalign/backend/stages/refinement/local_correlation.hpp>
#include <warpalign/pixel.hpp>

#include <span>
#include <vector>

namespace warpalign::detail {

/// The variance of an image's intensities, and the floor of windows.
struct IntensityVariance {
  double all = 0;    ///< above 0
  double floor = 0;  ///< above 0
};

/// The floor is half the variance of the noise, estimated robustly from differences of neighbours
/// along all axes at once, of at most about 30 000 pixels; at least 1e-5 of the image's variance.
/// `known`: 1 or 0 for each pixel, empty if all are known.
[[nodiscard]] IntensityVariance intensity_variance(std::span<const float> pixels,
                                                   const Shape& shape,
                                                   std::span<const float> known = {});

/// The same from the samples of an image: their values, and then their differences.
[[nodiscard]] IntensityVariance intensity_variance(std::span<const float> samples,
                                                   const NoiseSampling& sampling,
                                                   const Shape& shape,
                                                   std::span<const float> known = {});

}  // namespace warpalign::detail
