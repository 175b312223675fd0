// Affine transforms of space in millimetres, and rotations.
#pragma once

#include "registration/numerics/small_matrix.hpp"

namespace warpalign::detail {

/// The rotation about the direction of `vector` by the length of `vector`, in radians.
[[nodiscard]] Matrix3 rotation_by(const Vector3& vector);
/// The angle of a rotation matrix, in radians, 0 to pi.
[[nodiscard]] double angle_of(const Matrix3& rotation);
/// The inverse of rotation_by().
[[nodiscard]] Vector3 rotation_vector(const Matrix3& rotation);
/// The rotation nearest to a matrix with a positive determinant: the orthogonal factor of its polar
/// decomposition.
[[nodiscard]] Matrix3 nearest_rotation(const Matrix3& matrix);

/// v -> linear v + shift.
struct SpatialTransform {
  Matrix3 linear = identity3();
  Vector3 shift{};

  [[nodiscard]] Vector3 operator()(const Vector3& v) const;
  /// `(this * other)(v)` is `this(other(v))`.
  [[nodiscard]] SpatialTransform operator*(const SpatialTransform& other) const;
};

}  // namespace warpalign::detail
