// The points at which a spline is evaluated, in the form that interpolation kernels take.
#include "spline/interpolate_points.hpp"

#include <algorithm>
#include <cmath>

namespace warpalign::opencl {

namespace {

/// The rows of a transform, with their values at the output's centre: coordinates are relative to
/// it so that they stay small. Only the ratios of a projective transform's rows matter, so they are
/// scaled to a divisor of about 1, by a power of two, which causes no rounding.
std::array<std::array<double, 4>, 4> rows_about(const std::array<cl_int, 3>& centre,
                                                const HomogeneousMatrix& transform) {
  std::array<std::array<double, 4>, 4> rows{};
  for (std::size_t i = 0; i < 4; ++i) {
    const double* row = transform.m.data() + 4 * i;
    rows[i] = {row[0], row[1], row[2],
               row[0] * centre[0] + row[1] * centre[1] + row[2] * centre[2] + row[3]};
  }
  if (transform.is_affine()) return rows;
  double largest = 0;
  for (const double value : rows[3]) largest = std::max(largest, std::fabs(value));
  if (largest == 0) return rows;
  const int exponent = std::ilogb(largest);
  for (auto& row : rows) {
    for (double& value : row) value = std::ldexp(value, -exponent);
  }
  return rows;
}

}  // namespace

Points points_of(const HomogeneousMatrix& transform, const Shape& output) {
  Points points;
  points.kind = transform.is_affine() ? Kind::affine : Kind::projective;
  points.centre = {static_cast<cl_int>(output.width / 2), static_cast<cl_int>(output.height / 2),
                   static_cast<cl_int>(output.depth / 2)};
  const auto rows = rows_about(points.centre, transform);
  for (std::size_t i = 0; i < 4; ++i) points.rows[i] = to_two_floats(rows[i]);
  return points;
}

Points points_of(const LogPolarSampling& grid) {
  Points points;
  points.kind = Kind::log_polar;
  points.rows[0] = to_two_floats({grid.centre_x, grid.log_radius0, grid.log_step, 0});
  points.rows[1] = to_two_floats({grid.centre_y, grid.angle0, grid.angle_step, 0});
  return points;
}

}  // namespace warpalign::opencl
