// The oracle of the sums of a Gauss-Newton step for the similarity of a frame.
#include "reference/refinement/frame_sums.hpp"

#include "reference/spline/basis.hpp"

#include <cmath>

namespace reference {

namespace {

using Four = std::array<double, 4>;

/// sum_k c(k) b(x - k), with b the cubic B-spline or, along an axis, its derivative.
double spline(const Plane& c, double x, double y, bool slope_x, bool slope_y) {
  double sum = 0;
  for (auto j = static_cast<std::int64_t>(std::ceil(y)) - 2;
       j <= static_cast<std::int64_t>(std::floor(y)) + 2; ++j) {
    for (auto i = static_cast<std::int64_t>(std::ceil(x)) - 2;
         i <= static_cast<std::int64_t>(std::floor(x)) + 2; ++i) {
      const double dx = x - static_cast<double>(i);
      const double dy = y - static_cast<double>(j);
      const double weight =
          (slope_x ? beta_slope(3, dx) : beta(3, dx)) * (slope_y ? beta_slope(3, dy) : beta(3, dy));
      if (weight != 0) sum += weight * c.at(i, j);
    }
  }
  return sum;
}

/// The derivatives, with respect to the parameters, of a value with this gradient at (x, y) from
/// the centre: the point moves by (1, 0), by (0, 1), by (x, y), and by (y, -x).
Four derivatives(double slope_x, double slope_y, double x, double y) {
  return {slope_x, slope_y, slope_x * x + slope_y * y, slope_x * y - slope_y * x};
}

}  // namespace

std::array<double, 45> frame_sums(const Plane& frame, const Plane& reference,
                                  const RotatedCell& c) {
  std::array<double, 45> sums{};
  for (std::int64_t row = c.first_row; row < c.end_row; ++row) {
    for (std::int64_t column = c.first_column; column < c.end_column; ++column) {
      const auto i = static_cast<double>(column - c.first_column);
      const auto j = static_cast<double>(row - c.first_row);
      const double x = c.x + c.a * i + c.b * j;
      const double y = c.y + c.d * i + c.e * j;
      if (std::floor(x) < 1 || std::floor(x) > static_cast<double>(reference.width - 3)) continue;
      if (std::floor(y) < 1 || std::floor(y) > static_cast<double>(reference.height - 3)) continue;
      const auto fx = static_cast<double>(column);
      const auto fy = static_cast<double>(row);
      const double m = spline(frame, fx, fy, false, false) - c.frame_mean;
      const double mx = spline(frame, fx, fy, true, false);
      const double my = spline(frame, fx, fy, false, true);
      const double r = spline(reference, x, y, false, false) - c.reference_mean;
      const double rx = spline(reference, x, y, true, false);
      const double ry = spline(reference, x, y, false, true);
      const double residual = m - c.gain * r - c.offset;
      if (!std::isfinite(residual + rx + ry + mx + my)) continue;
      double weight = 1;
      if (c.scale > 0) {
        const double u = residual / c.scale;
        weight = std::abs(u) < 1 ? std::pow(1 - u * u, 2) : 0;
      }
      const double squared = c.a * c.a + c.d * c.d;
      const Four derivatives_of_r = derivatives(rx, ry, x - c.centre_x, y - c.centre_y);
      const Four z = derivatives((c.a * mx + c.b * my) / squared, (c.d * mx + c.e * my) / squared,
                                 x - c.centre_x, y - c.centre_y);
      std::size_t next = 0;
      for (const double term : {1.0, r, m, r * r, m * m, r * m}) sums[next++] += weight * term;
      for (const double one : z) {
        for (const double other : derivatives_of_r) sums[next++] += weight * one * other;
      }
      for (const double one : z) sums[next++] += weight * one * r;
      for (const double one : z) sums[next++] += weight * one;
      for (const double one : z) sums[next++] += weight * one * m;
      for (const double one : derivatives_of_r) sums[next++] += weight * one * r;
      for (const double one : derivatives_of_r) sums[next++] += weight * one;
      sums[next++] += weight * (mx * mx + my * my);
      sums[next++] += 1;
      sums[next++] += std::abs(residual);
    }
  }
  return sums;
}

}  // namespace reference
