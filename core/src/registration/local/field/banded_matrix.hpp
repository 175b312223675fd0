// Symmetric positive definite systems of linear equations with a band.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace warpalign::detail {

class BandedMatrix {
 public:
  /// All zero. Entries lie at most `band` beside the diagonal.
  BandedMatrix(std::size_t unknowns, std::size_t band);

  /// The entry of the lower triangle: row - band <= column <= row.
  [[nodiscard]] double& at(std::size_t row, std::size_t column) {
    return entries_[row * (band_ + 1) + column + band_ - row];
  }

  /// Replaces the matrix by its Cholesky decomposition. Returns false where it is not positive
  /// definite to working precision; its contents are then meaningless.
  [[nodiscard]] bool decompose();
  /// Replaces the right side by the solution; the matrix is decomposed.
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
