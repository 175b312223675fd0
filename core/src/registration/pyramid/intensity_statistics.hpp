// Statistics of an image's intensities, measured on a coarse level.
#pragma once

#include <span>

namespace warpalign::detail {

struct IntensityStatistics {
  double weight = 0;  ///< sum of the weights of all pixels
  double mean = 0;
  double deviation = 0;
  float minimum = 0;
  float maximum = 0;
};

/// Whether the registration's kernels, which multiply values in single precision, could overflow,
/// underflow or lose the contrast: values of more than 2^30 or a contrast of less than 2^-30, or of
/// less than 2^-14 of the mean.
[[nodiscard]] bool is_extreme(const IntensityStatistics& levels);

/// If a value is NaN or infinite, the mean is not finite and the deviation and extremes are not
/// computed. If the total weight is 0, the mean is 0.
[[nodiscard]] IntensityStatistics intensity_statistics(std::span<const float> values);

/// The same with a weight from 0 to 1 for each pixel. The extremes are those of all pixels,
/// regardless of their weight.
[[nodiscard]] IntensityStatistics intensity_statistics(std::span<const float> values,
                                                       std::span<const float> weights);

}  // namespace warpalign::detail
