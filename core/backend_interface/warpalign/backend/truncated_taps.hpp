// The truncated cubic prefilter (Champagnat and Le Sant, proposition 1), for kernels that compute
// with powers of the pole instead of separate taps.
#pragma once

#include <cmath>

namespace warpalign::backend {

/// The factor that makes the taps sum to 1. The taps are 1 in the middle and z^k, k = 1 ... taps /
/// 2, on either side, where z is `pole` in single precision.
[[nodiscard]] inline double truncated_gain(float pole, int taps) {
  double sum = 1;
  for (int k = 1; k <= taps / 2; ++k) sum += 2 * std::pow(static_cast<double>(pole), k);
  return 1 / sum;
}

}  // namespace warpalign::backend
