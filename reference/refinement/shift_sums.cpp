// The oracle of the sums of a Gauss-Newton step for the shift of a window.
#include "reference/refinement/shift_sums.hpp"

#include "reference/spline/basis.hpp"

#include <cmath>

namespace reference {

namespace {

/// sum_k c(k) b(x - k) over the given k, with b the cubic B-spline or, along an axis, its
/// derivative (Ruijters et al., equation 1).
double spline(const Plane& c, double x, double y, std::int64_t count, bool slope_x, bool slope_y) {
  const auto left = static_cast<std::int64_t>(std::floor(x)) - 1;
  const auto top = static_cast<std::int64_t>(std::floor(y)) - 1;
  double sum = 0;
  for (std::int64_t j = top; j < top + count; ++j) {
    for (std::int64_t i = left; i < left + count; ++i) {
      const double dx = x - static_cast<double>(i);
      const double dy = y - static_cast<double>(j);
      sum += (slope_x ? beta_slope(3, dx) : beta(3, dx)) *
             (slope_y ? beta_slope(3, dy) : beta(3, dy)) * c.at(i, j);
    }
  }
  return sum;
}

// Between samples the spline has four neighbours, at a sample three.
double between(const Plane& c, double x, double y, bool slope_x, bool slope_y) {
  return spline(c, x, y, 4, slope_x, slope_y);
}
double at_sample(const Plane& c, double x, double y, bool slope_x, bool slope_y) {
  return spline(c, x, y, 3, slope_x, slope_y);
}

}  // namespace

std::array<double, 25> shift_sums(const Plane& frame, const Plane& reference,
                                  const ShiftedWindow& w) {
  std::array<double, 25> sums{};
  for (std::int64_t j = w.first_row; j < w.end_row; ++j) {
    for (std::int64_t i = w.first_column; i < w.end_column; ++i) {
      const auto fx = static_cast<double>(w.left + i);
      const auto fy = static_cast<double>(w.top + j);
      const double x = w.reference_x + static_cast<double>(i);
      const double y = w.reference_y + static_cast<double>(j);
      const double m = at_sample(frame, fx, fy, false, false) - w.frame_mean;
      const double mx = at_sample(frame, fx, fy, true, false);
      const double my = at_sample(frame, fx, fy, false, true);
      const double r = between(reference, x, y, false, false) - w.reference_mean;
      const double rx = between(reference, x, y, true, false);
      const double ry = between(reference, x, y, false, true);
      const double e = m - w.gain * r - w.offset;
      if (!std::isfinite(e + rx + ry + mx + my)) continue;
      double weight = 1;
      if (w.scale > 0) {
        const double u = e / w.scale;
        weight = std::abs(u) < 1 ? std::pow(1 - u * u, 2) : 0;
      }
      const std::array<double, 23> terms{1,       r,       m,       r * r,   m * m,   r * m,
                                         rx,      ry,      rx * r,  ry * r,  mx,      my,
                                         mx * r,  my * r,  mx * m,  my * m,  mx * rx, mx * ry,
                                         my * rx, my * ry, mx * mx, mx * my, my * my};
      for (std::size_t k = 0; k < terms.size(); ++k) sums[k] += weight * terms[k];
      sums[23] += 1;
      sums[24] += std::abs(e);
    }
  }
  return sums;
}

}  // namespace reference
