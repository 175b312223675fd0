// Solves the small linear systems of Gauss-Newton steps.
#pragma once

#include <cstddef>
#include <span>

namespace warpalign::detail {

inline constexpr std::size_t max_unknowns = 12;
/// Of a system whose diagonal is 1; below it, rounding decides.
inline constexpr double min_pivot = 1e-12;

/// Solves H x = b for a symmetric, positive definite H and replaces b by x. H is row-major, n x n
/// for the n numbers in b, of which there are at most max_unknowns. Its lower triangle is read, and
/// overwritten. Returns false where H is not positive definite to
/// working precision; the contents of b are then meaningless.
[[nodiscard]] bool solve_symmetric(std::span<double> h, std::span<double> b);

/// Solves A x = b by Gauss-Jordan elimination with partial pivoting, and replaces b by x. A is
/// row-major, n x n for the n numbers in b, and is overwritten. Returns false if A is singular.
[[nodiscard]] bool solve_general(std::span<double> a, std::span<double> b);

}  // namespace warpalign::detail
