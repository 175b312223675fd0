// The median and the standard deviation of values among outliers.
#pragma once

#include "registration/numerics/robust_scale.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace warpalign::detail {

/// Changes the order of the values. 0 if there are none.
inline double median_of(std::vector<float>& values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return static_cast<double>(*middle);
}

struct RobustStatistics {
  double median = 0;
  double deviation = 0;  ///< by the median of absolute deviations, for a normal distribution
};

/// Overwrites the values.
inline RobustStatistics robust_statistics(std::vector<float>& values) {
  const double median = median_of(values);
  for (float& value : values) value = std::abs(value - static_cast<float>(median));
  return {median, deviation_per_median * median_of(values)};
}

}  // namespace warpalign::detail
