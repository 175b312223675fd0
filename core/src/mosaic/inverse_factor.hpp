// Decorrelates equations whose values have a common covariance.
#pragma once

#include "mosaic/shift_covariance.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace warpalign::detail {

/// The inverse of the Cholesky factor of a covariance.
template <std::size_t n>
class InverseFactor {
 public:
  explicit InverseFactor(const CovarianceOf<n>& covariance) {
    CovarianceOf<n> lower;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        double sum = covariance.at(i, j);
        for (std::size_t k = 0; k < j; ++k) sum -= lower.at(i, k) * lower.at(j, k);
        lower.at(i, j) = sum / lower.at(j, j);
      }
      double rest = covariance.at(i, i);
      for (std::size_t k = 0; k < i; ++k) rest -= lower.at(i, k) * lower.at(i, k);
      lower.at(i, i) = std::sqrt(std::max(rest, 1e-12 * covariance.at(i, i)));
      for (std::size_t j = 0; j < i; ++j) {
        double sum = -lower.at(i, j) / (lower.at(j, j) * lower.at(i, i));
        for (std::size_t k = j + 1; k < i; ++k) {
          sum -= lower.at(i, k) * inverse_.at(k, j) / lower.at(i, i);
        }
        inverse_.at(i, j) = sum;
      }
      inverse_.at(i, i) = 1 / lower.at(i, i);
      pivots_[i] = lower.at(i, i);
    }
  }

  /// An element of the lower triangle.
  [[nodiscard]] double at(std::size_t i, std::size_t j) const { return inverse_.at(i, j); }
  /// The inverse of an element of the diagonal.
  [[nodiscard]] double pivot(std::size_t i) const { return pivots_[i]; }

 private:
  CovarianceOf<n> inverse_;
  std::array<double, n> pivots_{};
};

}  // namespace warpalign::detail
