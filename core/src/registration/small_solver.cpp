// Solves the small symmetric linear systems of Gauss-Newton steps.
#include "registration/small_solver.hpp"

#include <array>
#include <cmath>

namespace warpalign::detail {

namespace {

constexpr double min_pivot = 1e-12;  // for a unit diagonal; below it, rounding decides

using Numbers = std::span<double>;

// Computes the lower triangle L of a = L L^T in place; returns false where a is not positive
// definite.
bool decompose(Numbers a, std::size_t n) {
  for (std::size_t column = 0; column < n; ++column) {
    for (std::size_t k = 0; k < column; ++k) {
      for (std::size_t row = column; row < n; ++row) {
        a[row * n + column] -= a[row * n + k] * a[column * n + k];
      }
    }
    const double pivot = a[column * n + column];
    if (!(pivot > min_pivot)) return false;
    const double root = std::sqrt(pivot);
    for (std::size_t row = column; row < n; ++row) a[row * n + column] /= root;
  }
  return true;
}

void substitute(Numbers lower, Numbers x) {
  const std::size_t n = x.size();
  for (std::size_t row = 0; row < n; ++row) {
    for (std::size_t k = 0; k < row; ++k) x[row] -= lower[row * n + k] * x[k];
    x[row] /= lower[row * n + row];
  }
  for (std::size_t row = n; row-- > 0;) {
    for (std::size_t k = row + 1; k < n; ++k) x[row] -= lower[k * n + row] * x[k];
    x[row] /= lower[row * n + row];
  }
}

}  // namespace

bool solve_symmetric(std::span<double> h, std::span<double> b) {
  const std::size_t n = b.size();
  std::array<double, max_unknowns> unit{};
  for (std::size_t i = 0; i < n; ++i) {
    if (!(h[i * n + i] > 0)) return false;
    unit[i] = 1 / std::sqrt(h[i * n + i]);
  }
  for (std::size_t row = 0; row < n; ++row) {
    for (std::size_t column = 0; column < n; ++column) {
      h[row * n + column] = h[row * n + column] * unit[row] * unit[column];
    }
    b[row] *= unit[row];
  }
  if (!decompose(h, n)) return false;
  substitute(h, b);
  for (std::size_t i = 0; i < n; ++i) {
    b[i] *= unit[i];
    if (!std::isfinite(b[i])) return false;
  }
  return true;
}

}  // namespace warpalign::detail
