// Solves banded, symmetric positive definite systems of linear equations.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace warpalign::detail {

class BandedMatrix {
 public:
  /// A matrix of zeros with `band` diagonals on either side of the main diagonal.
  BandedMatrix(std::size_t unknowns, std::size_t band);

  /// The entry of the lower triangle: row - band <= column <= row.
  [[nodiscard]] double& at(std::size_t row, std::size_t column) {
    return entries_[row * (band_ + 1) + column + band_ - row];
  }

  /// Replaces the matrix by its Cholesky decomposition. Returns false, with undefined contents, if
  /// the matrix is not positive definite to working precision.
  [[nodiscard]] bool decompose();
  /// Replaces the right-hand side by the solution. Call decompose() first.
  void solve(std::span<double> right) const;

 private:
  [[nodiscard]] const double* row(std::size_t index) const {
    return entries_.data() + index * (band_ + 1);
  }

  std::size_t unknowns_;
  std::size_t band_;
  std::vector<double> entries_;
};

}  // namespace warpalign::detail
