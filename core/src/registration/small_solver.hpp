// Solving the small symmetric systems of Gauss-Newton steps.
#pragma once

#include <cstddef>
#include <span>

namespace warpalign::detail {

inline constexpr std::size_t max_unknowns = 4;

/// Replaces b by x with H x = b for a symmetric, positive definite H (row-major, n x n for the n
/// numbers in b, at most most_unknowns), by Cholesky's decomposition of H scaled to a unit
/// diagonal, in the place of H. False where H is not positive definite to working precision; b
/// means nothing then.
[[nodiscard]] bool solve_symmetric(std::span<double> h, std::span<double> b);

}  // namespace warpalign::detail
