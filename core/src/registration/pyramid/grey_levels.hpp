// Statistics of an image's grey levels, measured on a coarse level.
#pragma once

#include <span>

namespace warpalign::detail {

struct GreyLevels {
  double weight = 0;  ///< total over all pixels
  double mean = 0;
  double deviation = 0;
  float minimum = 0;
  float maximum = 0;
};

/// Where any value is NaN or infinite, the mean is not finite and the deviation and extremes are
/// not computed; where the weight is 0, the mean is 0.
[[nodiscard]] GreyLevels grey_levels(std::span<const float> values);

/// The same with a weight of 0 to 1 for each pixel. The extremes are those of all pixels, whatever
/// their weight.
[[nodiscard]] GreyLevels grey_levels(std::span<const float> values, std::span<const float> weights);

}  // namespace warpalign::detail
