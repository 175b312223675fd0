// Solving the small symmetric systems of Gauss-Newton steps.
#pragma once

#include <optional>
#include <vector>

namespace warpalign::detail {

/// x with H x = b for a symmetric, positive definite H (row-major, n x n for n numbers in b), by
/// Cholesky's decomposition of H scaled to a unit diagonal; nothing where H is not positive
/// definite to working precision.
std::optional<std::vector<double>> solve_symmetric(const std::vector<double>& h,
                                                   const std::vector<double>& b);

}  // namespace warpalign::detail
