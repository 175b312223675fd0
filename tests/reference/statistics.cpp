// The oracle's statistics.
#include "reference/stages.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace reference {

Statistics statistics(const Plane& image) {
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
