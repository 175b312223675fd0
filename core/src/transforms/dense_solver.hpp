// Linear systems of any size.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace warpalign::detail {

/// The LU decomposition, with partial pivoting, of a square matrix given row by row.
class DenseSolver {
 public:
  explicit DenseSolver(std::vector<double> matrix, std::size_t size);
  /// Whether a pivot is 0 up to rounding.
  [[nodiscard]] bool is_singular() const noexcept { return singular_; }
  /// Replaces the right-hand side by the solution. The matrix must not be singular.
  void solve(std::span<double> b) const;

 private:
  std::vector<double> lu_;
  std::vector<std::size_t> rows_;
  std::size_t size_;
  bool singular_ = false;
};

/// The eigenvector of the largest eigenvalue of a symmetric matrix, by Jacobi's rotations.
[[nodiscard]] std::vector<double> largest_eigenvector(std::vector<double> matrix, std::size_t size);

}  // namespace warpalign::detail
