// Affine transforms of space in millimetres, and rotations.
#include "registration/volume/geometry/spatial_transform.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace warpalign::detail {

namespace {

constexpr int max_polar_iterations = 30;

// The axis n of a rotation by 180 degrees. As r = 2 n n' - 1, each column of r + 1 is parallel to
// n; the column with the largest diagonal entry is the most accurate.
Vector3 axis_of_half_turn(const Matrix3& r) {
  std::size_t largest = 0;
  for (std::size_t i = 1; i < 3; ++i) {
    if (r[4 * i] > r[4 * largest]) largest = i;
  }
  Vector3 axis{r[largest], r[3 + largest], r[6 + largest]};
  axis[largest] += 1;
  const double length = std::hypot(axis[0], axis[1], axis[2]);
  for (double& component : axis) component /= length;
  return axis;
}

}  // namespace

// Rodrigues' formula.
Matrix3 rotation_by(const Vector3& v) {
  const double angle = std::hypot(v[0], v[1], v[2]);
  const Matrix3 cross{0, -v[2], v[1], v[2], 0, -v[0], -v[1], v[0], 0};
  const Matrix3 square = product(cross, cross);
  // sin(angle) / angle and (1 - cos(angle)) / angle^2 tend to 1 and 1/2 for small angles.
  const double first = angle > 1e-8 ? std::sin(angle) / angle : 1;
  const double half = std::sin(angle / 2) / (angle > 1e-8 ? angle / 2 : 1);
  const double second = angle > 1e-8 ? half * half / 2 : 0.5;
  Matrix3 rotation = identity3();
  for (std::size_t i = 0; i < 9; ++i) rotation[i] += first * cross[i] + second * square[i];
  return rotation;
}

double angle_of(const Matrix3& r) {
  // The sine alone is inaccurate near 90 degrees, the cosine alone near 0 and 180 degrees.
  const double sine = std::hypot(r[7] - r[5], r[2] - r[6], r[3] - r[1]) / 2;
  return std::atan2(sine, (r[0] + r[4] + r[8] - 1) / 2);
}

Vector3 rotation_vector(const Matrix3& r) {
  const double angle = angle_of(r);
  Vector3 axis{r[7] - r[5], r[2] - r[6], r[3] - r[1]};
  const double length = std::hypot(axis[0], axis[1], axis[2]);
  if (length > 1e-6) {
    for (double& component : axis) component *= angle / length;
    return axis;
  }
  if (angle < 1) return {axis[0] / 2, axis[1] / 2, axis[2] / 2};
  axis = axis_of_half_turn(r);
  for (double& component : axis) component *= angle;
  return axis;
}

// Higham's iteration (1986): the average of the matrix and its transposed inverse.
Matrix3 nearest_rotation(const Matrix3& matrix) {
  Matrix3 r = matrix;
  for (int i = 0; i < max_polar_iterations; ++i) {
    const Matrix3 other = inverse_transposed(r);
    double change = 0;
    for (std::size_t k = 0; k < 9; ++k) {
      const double next = (r[k] + other[k]) / 2;
      change = std::max(change, std::abs(next - r[k]));
      r[k] = next;
    }
    if (change < 1e-14) break;
  }
  return r;
}

Vector3 SpatialTransform::operator()(const Vector3& v) const {
  const Vector3 moved = product(linear, v);
  return {moved[0] + shift[0], moved[1] + shift[1], moved[2] + shift[2]};
}

SpatialTransform SpatialTransform::operator*(const SpatialTransform& other) const {
  return {product(linear, other.linear), (*this)(other.shift)};
}

}  // namespace warpalign::detail
