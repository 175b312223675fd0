// Gain and offset between two images, from their moments.
#pragma once

#include "registration/numerics/correlation.hpp"

#include <algorithm>
#include <cmath>

namespace warpalign::detail {

/// The moments of the weighted samples, from the sums of a stage.
template <class Sums>
[[nodiscard]] Moments weighted_moments(const Sums& s) {
  return {s.weight, s.r, s.m, s.rr, s.mm, s.rm};
}

/// Moments of second order about the means: n times the variances and the covariance.
struct CentredMoments {
  Moments sums;
  double rr, mm, rm;

  explicit CentredMoments(const Moments& s)
      : sums(s),
        rr(s.rr - s.r * s.r / s.n),
        mm(s.mm - s.m * s.m / s.n),
        rm(s.rm - s.r * s.m / s.n) {}

  /// The gain from r to m by linear regression.
  [[nodiscard]] double regression_gain() const { return rm / rr; }
  /// The ratio of the standard deviations.
  [[nodiscard]] double contrast_gain() const { return std::sqrt(mm / rr); }
  /// The offset that makes the means equal under a gain.
  [[nodiscard]] double offset(double gain) const { return (sums.m - gain * sums.r) / sums.n; }
  /// The variance of the residuals under the gain of the regression.
  [[nodiscard]] double residual_variance(double regression_gain) const {
    return std::max(mm - regression_gain * rm, 0.0) / sums.n;
  }
};

}  // namespace warpalign::detail
