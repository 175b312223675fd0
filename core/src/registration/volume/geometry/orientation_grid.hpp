// Orientations that cover a range of rotations evenly.
#pragma once

#include "registration/volume/geometry/spatial_transform.hpp"

#include <cstddef>
#include <vector>

namespace warpalign::detail {

/// `count` rotations that cover all orientations evenly: the super-Fibonacci spiral (Alexa 2022,
/// Super-Fibonacci Spirals: Fast, Low-Discrepancy Sampling of SO(3)).
[[nodiscard]] std::vector<Matrix3> all_orientations(std::size_t count);

/// Of all_orientations(count), those by at most `max_angle` (radians), after the identity.
[[nodiscard]] std::vector<Matrix3> orientations_within(double max_angle, std::size_t count);

/// The rotation itself, and those around it: `step` (radians) apart along each of three axes, up to
/// one step away.
void append_neighbours(const Matrix3& rotation, double step, std::vector<Matrix3>& rotations);

}  // namespace warpalign::detail
