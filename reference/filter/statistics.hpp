// The oracle of the statistics.
#pragma once

#include "reference/plane.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace reference {

struct Statistics {
  double mean = 0;
  double minimum = 0;
  double maximum = 0;
  std::uint32_t nonfinite = 0;
};

inline Statistics statistics(const Plane& image) {
  Statistics result;
  result.minimum = std::numeric_limits<double>::infinity();
  result.maximum = -result.minimum;
  long double sum = 0;
  std::size_t finite = 0;
  for (const double value : image.values) {
    if (!std::isfinite(value)) {
      ++result.nonfinite;
      continue;
    }
    ++finite;
    sum += value;
    result.minimum = std::min(result.minimum, value);
    result.maximum = std::max(result.maximum, value);
  }
  if (finite > 0) result.mean = static_cast<double>(sum / static_cast<long double>(finite));
  return result;
}

}  // namespace reference
