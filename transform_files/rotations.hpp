// Linear parts of rigid transforms, by their parameters.
#pragma once

#include <span>
#include <vector>

namespace warpalign::transform_files {

/// Of a rotation of the plane by an angle in radians from x to y, times a scale.
[[nodiscard]] std::vector<double> rotation2(double angle, double scale = 1);
/// Rz Rx Ry, or with `zyx`, Rz Ry Rx, of rotations about the axes by angles in radians.
[[nodiscard]] std::vector<double> euler3(std::span<const double> angles, bool zyx);
/// Of a versor: the vector part (x, y, z) of a unit quaternion with a real part that is not
/// negative. Longer vectors are normalized.
[[nodiscard]] std::vector<double> versor3(std::span<const double> vector);
/// Of a quaternion (x, y, z, w), normalized. Throws Error(invalid_argument) if it is 0.
[[nodiscard]] std::vector<double> quaternion3(std::span<const double> quaternion);

}  // namespace warpalign::transform_files
