// Solving the small symmetric systems of Gauss-Newton steps.
#include "registration/small_solver.hpp"

#include <cmath>
#include <cstddef>

namespace warpalign::detail {

namespace {

constexpr double min_pivot = 1e-12;  // of a unit diagonal: beyond it, rounding decides

using Vector = std::vector<double>;

// The lower triangle L of a = L L^T, in place; false where a is not positive definite.
bool decompose(Vector& a, std::size_t n) {
  for (std::size_t column = 0; column < n; ++column) {
    for (std::size_t k = 0; k < column; ++k) {
      for (std::size_t row = column; row < n; ++row) {
        a[row * n + column] -= a[row * n + k] * a[column * n + k];
      }
    }
    const double pivot = a[column * n + column];
    if (!(pivot > min_pivot)) return false;
    for (std::size_t row = column; row < n; ++row) a[row * n + column] /= std::sqrt(pivot);
  }
  return true;
}

void substitute(const Vector& lower, Vector& x) {
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

std::optional<Vector> solve_symmetric(const Vector& h, const Vector& b) {
  const std::size_t n = b.size();
  Vector unit(n);
  for (std::size_t i = 0; i < n; ++i) {
    if (!(h[i * n + i] > 0)) return std::nullopt;
    unit[i] = 1 / std::sqrt(h[i * n + i]);
  }
  Vector scaled(n * n);
  Vector x(n);
  for (std::size_t row = 0; row < n; ++row) {
    for (std::size_t column = 0; column < n; ++column) {
      scaled[row * n + column] = h[row * n + column] * unit[row] * unit[column];
    }
    x[row] = b[row] * unit[row];
  }
  if (!decompose(scaled, n)) return std::nullopt;
  substitute(scaled, x);
  for (std::size_t i = 0; i < n; ++i) {
    x[i] *= unit[i];
    if (!std::isfinite(x[i])) return std::nullopt;
  }
  return x;
}

}  // namespace warpalign::detail
