// The normalized correlation of two images, computed from their moments.
#pragma once

#include <cmath>

namespace warpalign::detail {

/// The sums over n pairs of samples (r, m). Their correlation is 0 where either does not vary.
struct Moments {
  double n = 0, r = 0, m = 0, rr = 0, mm = 0, rm = 0;
};

inline double correlation_of(const Moments& sums) {
  if (!(sums.n > 1)) return 0;
  const double rr = sums.rr - sums.r * sums.r / sums.n;
  const double mm = sums.mm - sums.m * sums.m / sums.n;
  if (!(rr > 0) || !(mm > 0)) return 0;
  return (sums.rm - sums.r * sums.m / sums.n) / std::sqrt(rr * mm);
}

}  // namespace warpalign::detail
