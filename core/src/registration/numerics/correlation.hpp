// The normalized correlation of two images, computed from their moments.
#pragma once

#include "formulas/moments.h"

namespace warpalign::detail {

/// The sums over n pairs of samples (r, m). Their correlation is 0 if r or m is constant.
struct Moments {
  double n = 0, r = 0, m = 0, rr = 0, mm = 0, rm = 0;
};

inline double correlation_of(const Moments& sums) {
  const WaMoments moments{sums.n, 0, sums.r, sums.m, sums.rr, sums.mm, sums.rm};
  return wa_correlation(&moments);
}

}  // namespace warpalign::detail
