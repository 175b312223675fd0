// Linear parts of rigid transforms, by their parameters.
#include "rotations.hpp"

#include "text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace warpalign::transform_files {
namespace {

std::vector<double> product3(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> c(9);
  for (std::size_t row = 0; row < 3; ++row) {
    for (std::size_t column = 0; column < 3; ++column) {
      for (std::size_t k = 0; k < 3; ++k) c[3 * row + column] += a[3 * row + k] * b[3 * k + column];
    }
  }
  return c;
}

}  // namespace

std::vector<double> rotation2(double angle, double scale) {
  const double c = scale * std::cos(angle);
  const double s = scale * std::sin(angle);
  return {c, -s, s, c};
}

std::vector<double> euler3(std::span<const double> angles, bool zyx) {
  const auto c = [&](std::size_t i) { return std::cos(angles[i]); };
  const auto s = [&](std::size_t i) { return std::sin(angles[i]); };
  const std::vector<double> x{1, 0, 0, 0, c(0), -s(0), 0, s(0), c(0)};
  const std::vector<double> y{c(1), 0, s(1), 0, 1, 0, -s(1), 0, c(1)};
  const std::vector<double> z{c(2), -s(2), 0, s(2), c(2), 0, 0, 0, 1};
  return product3(z, zyx ? product3(y, x) : product3(x, y));
}

std::vector<double> versor3(std::span<const double> vector) {
  const double squared = vector[0] * vector[0] + vector[1] * vector[1] + vector[2] * vector[2];
  return quaternion3(
      std::array{vector[0], vector[1], vector[2], std::sqrt(std::max(0.0, 1 - squared))});
}

std::vector<double> quaternion3(std::span<const double> quaternion) {
  const double length = std::hypot(std::hypot(quaternion[0], quaternion[1]),
                                   std::hypot(quaternion[2], quaternion[3]));
  if (!(length > 0) || !std::isfinite(length)) refuse("a rotation's quaternion is 0 or too large");
  const double x = quaternion[0] / length;
  const double y = quaternion[1] / length;
  const double z = quaternion[2] / length;
  const double w = quaternion[3] / length;
  return {1 - 2 * (y * y + z * z), 2 * (x * y - z * w),     2 * (x * z + y * w),
          2 * (x * y + z * w),     1 - 2 * (x * x + z * z), 2 * (y * z - x * w),
          2 * (x * z - y * w),     2 * (y * z + x * w),     1 - 2 * (x * x + y * y)};
}

}  // namespace warpalign::transform_files
