// The oracle of the radial whitening.
#pragma once

#include "reference/plane.hpp"

namespace reference {

/// value / m - 1, where m is the mean of the non-zero values of its column; 0 stays 0.
inline Plane radially_whitened(const Plane& log_polar) {
  Plane result = log_polar;
  for (std::int64_t x = 0; x < log_polar.width; ++x) {
    double sum = 0, count = 0;
    for (std::int64_t y = 0; y < log_polar.height; ++y) {
      sum += log_polar.at(x, y);
      count += log_polar.at(x, y) != 0 ? 1 : 0;
    }
    for (std::int64_t y = 0; y < log_polar.height; ++y) {
      if (log_polar.at(x, y) != 0) result.at(x, y) = log_polar.at(x, y) * count / sum - 1;
    }
  }
  return result;
}

}  // namespace reference
