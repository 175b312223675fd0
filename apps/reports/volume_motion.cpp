// The motion of the volumes of a series, in the terms of functional MRI.
#include "reports/volume_motion.hpp"

#include "io/volume_axes.hpp"

#include "transform_files/matrices.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace warpalign::program {
namespace {

constexpr double radian = 180 / std::numbers::pi;

using Matrix = std::array<std::array<double, 3>, 3>;

Matrix product_of(const Matrix& a, const Matrix& b) {
  Matrix c{};
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      for (std::size_t k = 0; k < 3; ++k) c[i][j] += a[i][k] * b[k][j];
    }
  }
  return c;
}

/// Rodrigues' formula.
Matrix rotation_about(const Point3& axis, double degrees) {
  const double s = std::sin(degrees / radian);
  const double c = std::cos(degrees / radian);
  const std::array<double, 3> n{axis.x, axis.y, axis.z};
  const Matrix cross{{{0, -n[2], n[1]}, {n[2], 0, -n[0]}, {-n[1], n[0], 0}}};
  Matrix rotation{};
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      rotation[i][j] = (i == j ? c : 0) + s * cross[i][j] + (1 - c) * n[i] * n[j];
    }
  }
  return rotation;
}

/// The directions of the voxels' axes in the world, as columns.
Matrix directions_of(const HomogeneousMatrix& index_to_world) {
  const AxisDirections along = axis_directions(index_to_world);
  Matrix directions{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    for (std::size_t row = 0; row < 3; ++row) directions[row][axis] = along[axis][row];
  }
  return directions;
}

/// The inverse, by cofactors. Directions of a sheared volume are not orthogonal.
Matrix inverse_of(const Matrix& m) {
  Matrix inverse{};
  double determinant = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    const std::size_t i1 = (i + 1) % 3, i2 = (i + 2) % 3;
    for (std::size_t j = 0; j < 3; ++j) {
      const std::size_t j1 = (j + 1) % 3, j2 = (j + 2) % 3;
      inverse[j][i] = m[i1][j1] * m[i2][j2] - m[i1][j2] * m[i2][j1];
    }
    determinant +=
        i == 0 ? m[0][0] * inverse[0][0] + m[0][1] * inverse[1][0] + m[0][2] * inverse[2][0] : 0;
  }
  for (auto& row : inverse) {
    for (double& value : row) value /= determinant;
  }
  return inverse;
}

/// The rotation nearest to a matrix of positive determinant: its polar factor, by Newton's
/// iteration (Higham 1986).
Matrix nearest_rotation_to(Matrix m) {
  constexpr int most_steps = 30;  // it converges quadratically
  for (int step = 0; step < most_steps; ++step) {
    const Matrix inverse = inverse_of(m);
    double change = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t j = 0; j < 3; ++j) {
        const double next = (m[i][j] + inverse[j][i]) / 2;
        change = std::max(change, std::abs(next - m[i][j]));
        m[i][j] = next;
      }
    }
    if (change < 1e-15) break;
  }
  return m;
}

}  // namespace

void set_rotation(VolumeRegistration& found, const Point3& spacing) {
  const std::array<double, 3> size{spacing.x, spacing.y, spacing.z};
  Matrix linear{};
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j)
      linear[i][j] = found.matrix.m[4 * i + j] * size[i] / size[j];
  }
  const Matrix r = nearest_rotation_to(linear);
  Point3 axis{(r[2][1] - r[1][2]) / 2, (r[0][2] - r[2][0]) / 2, (r[1][0] - r[0][1]) / 2};
  double length = std::hypot(axis.x, axis.y, axis.z);
  const double cosine = (r[0][0] + r[1][1] + r[2][2] - 1) / 2;
  found.rotation_deg = std::atan2(length, cosine) * radian;
  constexpr double half_turn = 1e-8;
  if (length < half_turn && cosine < 0) {  // R + I is then twice the projection on the axis
    std::size_t k = 0;
    for (std::size_t i = 1; i < 3; ++i) k = r[i][i] > r[k][k] ? i : k;
    axis = {r[0][k] + (k == 0 ? 1 : 0), r[1][k] + (k == 1 ? 1 : 0), r[2][k] + (k == 2 ? 1 : 0)};
    length = std::hypot(axis.x, axis.y, axis.z);
  }
  found.rotation_axis = {};
  if (length > 0) found.rotation_axis = {axis.x / length, axis.y / length, axis.z / length};
}

RigidParameters rigid_parameters(const VolumeRegistration& found,
                                 const HomogeneousMatrix& index_to_world, const Shape& shape) {
  RigidParameters parameters;
  const HomogeneousMatrix motion = transform_files::product(index_to_world, found.matrix);
  const std::array<double, 3> middle{static_cast<double>(shape.width - 1) / 2,
                                     static_cast<double>(shape.height - 1) / 2,
                                     static_cast<double>(shape.depth - 1) / 2};
  for (std::size_t row = 0; row < 3; ++row) {
    double moved = motion.m[4 * row + 3] - index_to_world.m[4 * row + 3];
    for (std::size_t j = 0; j < 3; ++j) {
      moved += (motion.m[4 * row + j] - index_to_world.m[4 * row + j]) * middle[j];
    }
    parameters.translation[row] = moved;
  }
  const Matrix directions = directions_of(index_to_world);
  const Matrix r =
      product_of(product_of(directions, rotation_about(found.rotation_axis, found.rotation_deg)),
                 inverse_of(directions));
  parameters.rotation_deg = {std::atan2(r[2][1], r[2][2]) * radian,
                             std::atan2(-r[2][0], std::hypot(r[2][1], r[2][2])) * radian,
                             std::atan2(r[1][0], r[0][0]) * radian};
  return parameters;
}

double framewise_displacement(const RigidParameters& before, const RigidParameters& after,
                              double radius) {
  double sum = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    sum += std::abs(after.translation[i] - before.translation[i]);
    sum += radius * std::abs(after.rotation_deg[i] - before.rotation_deg[i]) / radian;
  }
  return sum;
}

}  // namespace warpalign::program
