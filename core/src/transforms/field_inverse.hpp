// The inverse of a displacement field, point by point.
#pragma once

#include "transforms/field.hpp"

#include <optional>

namespace warpalign::detail {

/// Throws Error(invalid_argument), with the point of the smallest determinant, if the Jacobian
/// determinant of p + u(p) is not positive everywhere. Linear interpolation is checked at the
/// corners of all cells, from within them; splines at the corners, and half-way between them.
void check_invertible(const Field& field);

/// The largest distance between q + u(q) and p of a solution, unless rounding is larger.
[[nodiscard]] double inverse_tolerance(const Field& field);

/// Solves q + u(q) = p by Newton's method with step halving, or if that stops, by fixed-point
/// iteration. Nothing if neither converges. Outside of the grid, u is that of the nearest edge.
[[nodiscard]] std::optional<Vector3> solve(const Field& field, const Vector3& p);

/// The largest distance between q + u(q) and p for the solutions of a sample of up to 32768 points
/// p. Infinity if one does not converge.
[[nodiscard]] double residual_of_inverse(const Field& field);

}  // namespace warpalign::detail
