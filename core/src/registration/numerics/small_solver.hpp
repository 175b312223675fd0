// Solves the small linear systems of Gauss-Newton steps.
#pragma once

#include <cstddef>
#include <span>

namespace warpalign::detail {

inline constexpr std::size_t max_unknowns = 12;
/// The smallest pivot of a system whose diagonal is 1. Smaller pivots are dominated by rounding.
inline constexpr double min_pivot = 1e-12;

/// Solves H x = b for a symmetric, positive definite H and replaces b by x. H is row-major, n x n
/// for the n numbers in b, at most max_unknowns. Reads and overwrites the lower triangle of H.
/// Returns false, with b undefined, if H is not positive definite to working precision.
[[nodiscard]] bool solve_symmetric(std::span<double> h, std::span<double> b);

/// Solves A x = b by Gauss-Jordan elimination with partial pivoting, and replaces b by x. A is
/// row-major, n x n for the n numbers in b, and is overwritten. Returns false if A is singular.
[[nodiscard]] bool solve_general(std::span<double> a, std::span<double> b);

}  // namespace warpalign::detail
