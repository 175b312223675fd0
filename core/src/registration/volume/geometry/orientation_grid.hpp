// Orientations that cover a range of rotations evenly.
#pragma once

#include "registration/volume/geometry/spatial_transform.hpp"

#include <cstddef>
#include <vector>

namespace warpalign::detail {

/// Returns `count` rotations that cover all orientations evenly: the super-Fibonacci spiral (Alexa
/// 2022, Super-Fibonacci Spirals: Fast, Low-Discrepancy Sampling of SO(3)).
[[nodiscard]] std::vector<Matrix3> all_orientations(std::size_t count);

/// Returns the identity, then the rotations of all_orientations(count) whose angle is at most
/// `max_angle` (radians).
[[nodiscard]] std::vector<Matrix3> orientations_within(double max_angle, std::size_t count);

/// Appends the rotation and its 26 neighbours on a cubic grid of rotation vectors with a spacing of
/// `step` (radians).
void append_neighbours(const Matrix3& rotation, double step, std::vector<Matrix3>& rotations);

}  // namespace warpalign::detail
