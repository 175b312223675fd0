// The message about a transform that folds.
#pragma once

#include "registration/numerics/small_matrix.hpp"

#include <string>

namespace warpalign::detail {

/// Says that `what` has no inverse, and the Jacobian determinant at the point p, of which the first
/// `dimensions` coordinates count. Without a full stop.
[[nodiscard]] std::string fold_message(const std::string& what, double jacobian_determinant,
                                       const Vector3& p, int dimensions);

}  // namespace warpalign::detail
