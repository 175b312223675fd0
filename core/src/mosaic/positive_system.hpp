// Small dense systems of linear equations with a symmetric, positive definite matrix.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>

namespace warpalign::detail {

template <std::size_t n>
using Vector = std::array<double, n>;
template <std::size_t n>
using SquareMatrix = std::array<std::array<double, n>, n>;

/// The Cholesky decomposition of a matrix, of which the lower triangle is read. Pivots that are not
/// positive become infinite, so that their unknowns are 0.
template <std::size_t n>
class PositiveSystem {
 public:
  explicit PositiveSystem(const SquareMatrix<n>& matrix) : lower_(matrix) {
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t i = j; i < n; ++i) {
        double sum = lower_[i][j];
        for (std::size_t k = 0; k < j; ++k) sum -= lower_[i][k] * lower_[j][k];
        if (i == j) {
          lower_[j][j] = sum > 1e-12 * matrix[j][j] && sum > 0 ? std::sqrt(sum) : HUGE_VAL;
        } else {
          lower_[i][j] = std::isinf(lower_[j][j]) ? 0 : sum / lower_[j][j];
        }
      }
    }
  }

  [[nodiscard]] Vector<n> solve(Vector<n> right) const {
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t k = 0; k < i; ++k) right[i] -= lower_[i][k] * right[k];
      right[i] /= lower_[i][i];
    }
    for (std::size_t i = n; i-- > 0;) {
      for (std::size_t k = i + 1; k < n; ++k) right[i] -= lower_[k][i] * right[k];
      right[i] /= lower_[i][i];
    }
    return right;
  }

  /// The diagonal of the inverse.
  [[nodiscard]] Vector<n> inverse_diagonal() const {
    Vector<n> diagonal{};
    for (std::size_t i = 0; i < n; ++i) {
      Vector<n> unit{};
      unit[i] = 1;
      diagonal[i] = solve(unit)[i];
    }
    return diagonal;
  }

 private:
  SquareMatrix<n> lower_;
};

}  // namespace warpalign::detail
