// Doubles as sums of two floats.
#include "two_floats.hpp"

#include <algorithm>

namespace warpalign::opencl {

TwoFloats to_two_floats(const std::array<double, 4>& values) {
  TwoFloats result;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double value = std::clamp(values[i], -1e28, 1e28);
    result.nearest.s[i] = static_cast<cl_float>(value);
    result.rest.s[i] = static_cast<cl_float>(value - static_cast<double>(result.nearest.s[i]));
  }
  return result;
}

}  // namespace warpalign::opencl
