// Solves the small symmetric linear systems of Gauss-Newton steps.
#include "registration/numerics/small_solver.hpp"

#include "formulas/small_solver.h"

namespace warpalign::detail {

static_assert(max_unknowns == WA_MAX_UNKNOWNS);

bool solve_symmetric(std::span<double> h, std::span<double> b) {
  return wa_solve_symmetric(h.data(), b.data(), static_cast<int>(b.size()), min_pivot) != 0;
}

}  // namespace warpalign::detail
