// Evaluation of a transform: points, and Jacobian matrices.
#pragma once

#include "transforms/state.hpp"

#include <cstddef>
#include <span>

namespace warpalign::detail {

/// Maps `count` points, given by a pointer to each of the transform's coordinates, in place.
void map_points(const TransformState& state, std::span<double* const> points, std::size_t count,
                OutsideField outside);

/// Maps a point, and returns the Jacobian matrix of the transform there.
[[nodiscard]] Matrix3 map_with_jacobian(const TransformState& state, Vector3& point);

}  // namespace warpalign::detail
