// The inverse of a thin-plate spline, point by point.
#pragma once

#include "transforms/thin_plate.hpp"

#include <optional>

namespace warpalign::detail {

/// Throws Error(invalid_argument), with a point, if the Jacobian determinant of the spline changes
/// its sign within the box around the landmarks. Checks a grid of points, and the landmarks.
void check_invertible(const ThinPlate& plate);

/// Solves T(q) = p by Newton's method with step halving, from the landmark whose value is nearest.
/// Nothing if it does not converge, as beyond a fold far from the landmarks.
[[nodiscard]] std::optional<Vector3> solve(const ThinPlate& plate, const Vector3& p);

/// The largest distance between T(q) and p for the solutions of points p = T(q') of the box around
/// the landmarks. Infinity if one does not converge.
[[nodiscard]] double residual_of_inverse(const ThinPlate& plate);

}  // namespace warpalign::detail
