// Orientations that cover a range of rotations evenly.
#include "registration/volume/geometry/orientation_grid.hpp"

#include <cmath>
#include <numbers>

namespace warpalign::detail {

namespace {

// Alexa's constants: sqrt(2), and the root of psi^4 = psi + 4.
constexpr double phi = std::numbers::sqrt2;
constexpr double psi = 1.533751168755204288118041413;

// The rotation matrix of the unit quaternion (x, y, z, w).
Matrix3 rotation_of(double x, double y, double z, double w) {
  return {1 - 2 * (y * y + z * z), 2 * (x * y - z * w),     2 * (x * z + y * w),
          2 * (x * y + z * w),     1 - 2 * (x * x + z * z), 2 * (y * z - x * w),
          2 * (x * z - y * w),     2 * (y * z + x * w),     1 - 2 * (x * x + y * y)};
}

}  // namespace

std::vector<Matrix3> all_orientations(std::size_t count) {
  std::vector<Matrix3> rotations;
  rotations.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const double s = static_cast<double>(i) + 0.5;
    const double t = s / static_cast<double>(count);
    const double turns = 2 * std::numbers::pi * s;
    const double r = std::sqrt(t), q = std::sqrt(1 - t);
    const double a = turns / phi, b = turns / psi;
    rotations.push_back(
        rotation_of(r * std::sin(a), r * std::cos(a), q * std::sin(b), q * std::cos(b)));
  }
  return rotations;
}

std::vector<Matrix3> orientations_within(double max_angle, std::size_t count) {
  std::vector<Matrix3> rotations{identity3()};
  for (const Matrix3& rotation : all_orientations(count)) {
    if (angle_of(rotation) <= max_angle) rotations.push_back(rotation);
  }
  return rotations;
}

void append_neighbours(const Matrix3& rotation, double step, std::vector<Matrix3>& rotations) {
  for (int z = -1; z <= 1; ++z) {
    for (int y = -1; y <= 1; ++y) {
      for (int x = -1; x <= 1; ++x) {
        rotations.push_back(product(rotation, rotation_by({x * step, y * step, z * step})));
      }
    }
  }
}

}  // namespace warpalign::detail
