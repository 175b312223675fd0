// Affine transforms of space in millimetres, and rotations.
#pragma once

#include <warpalign/geometry.hpp>

#include <array>

namespace warpalign::detail {

using Vector3 = std::array<double, 3>;
using Matrix3 = std::array<double, 9>;  // row-major

[[nodiscard]] constexpr Matrix3 identity3() { return {1, 0, 0, 0, 1, 0, 0, 0, 1}; }
[[nodiscard]] Matrix3 product(const Matrix3& a, const Matrix3& b);
[[nodiscard]] Vector3 product(const Matrix3& a, const Vector3& v);
[[nodiscard]] double determinant(const Matrix3& a);

/// The rotation about the direction of `vector` by its length, in radians.
[[nodiscard]] Matrix3 rotation_by(const Vector3& vector);
/// The angle of a rotation matrix, in radians, 0 to pi.
[[nodiscard]] double angle_of(const Matrix3& rotation);
/// The reverse of rotation_by().
[[nodiscard]] Vector3 rotation_vector(const Matrix3& rotation);
/// The rotation that is nearest to a matrix with a positive determinant: the orthogonal factor of
/// its polar decomposition.
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
