// What a picture's grey levels are like, from a coarse view of it.
#pragma once

#include <span>

namespace warpalign::detail {

struct GreyLevels {
  double weight = 0;  ///< of all pixels together
  double mean = 0;
  double deviation = 0;
  float lowest = 0;
  float highest = 0;
};

/// Where any value is NaN or infinite, the mean is not finite and nothing else is known; where the
/// weight is 0, the mean is 0.
[[nodiscard]] GreyLevels grey_levels(std::span<const float> values);

/// Pixels count by their weights, 0 to 1; the extremes are those of all of them.
[[nodiscard]] GreyLevels grey_levels(std::span<const float> values, std::span<const float> weights);

}  // namespace warpalign::detail
