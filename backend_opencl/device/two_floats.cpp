// Doubles as sums of two floats.
#include "device/two_floats.hpp"

#include <algorithm>
#include <cmath>

namespace warpalign::opencl {

TwoFloats to_two_floats(const std::array<double, 4>& values) {
  constexpr double maximum = 1e28;
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::fabs(value));
  const double scale = largest > maximum ? maximum / largest : 1;
  TwoFloats result;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double value = values[i] * scale;
    result.nearest.s[i] = static_cast<cl_float>(value);
    result.rest.s[i] = static_cast<cl_float>(value - static_cast<double>(result.nearest.s[i]));
  }
  return result;
}

}  // namespace warpalign::opencl
