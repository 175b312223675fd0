// Solves the small linear systems of Gauss-Newton steps.
#include "registration/numerics/small_solver.hpp"

#include "formulas/small_solver.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace warpalign::detail {

static_assert(max_unknowns == WA_MAX_UNKNOWNS);

bool solve_symmetric(std::span<double> h, std::span<double> b) {
  return wa_solve_symmetric(h.data(), b.data(), static_cast<int>(b.size()), min_pivot) != 0;
}

bool solve_general(std::span<double> a, std::span<double> b) {
  const std::size_t n = b.size();
  const auto row_of = [&](std::size_t row) { return a.subspan(row * n, n); };
  for (std::size_t column = 0; column < n; ++column) {
    std::size_t pivot = column;
    for (std::size_t row = column + 1; row < n; ++row) {
      if (std::abs(row_of(row)[column]) > std::abs(row_of(pivot)[column])) pivot = row;
    }
    const std::span<double> from = row_of(column);
    if (pivot != column) std::swap_ranges(from.begin(), from.end(), row_of(pivot).begin());
    std::swap(b[column], b[pivot]);
    if (!(std::abs(from[column]) > 0)) return false;
    for (std::size_t row = 0; row < n; ++row) {
      if (row == column) continue;
      const std::span<double> to = row_of(row);
      const double factor = to[column] / from[column];
      for (std::size_t k = column; k < n; ++k) to[k] -= factor * from[k];
      b[row] -= factor * b[column];
    }
  }
  for (std::size_t i = 0; i < n; ++i) b[i] /= row_of(i)[i];
  return true;
}

}  // namespace warpalign::detail
