// Maps the points of one row by a homography.
#pragma once

#include <warpalign/geometry.hpp>

#include <array>
#include <cstddef>

namespace warpalign::detail {

/// A faster Homography::operator() for the points (along[i], at). Numerators and divisors are
/// affine along a row, and compilers vectorize the loops because they have no branches.
template <std::size_t points>
struct MappedRow {
  using Numbers = std::array<double, points>;
  Numbers x, y;

  MappedRow(const Homography& m, const Numbers& along, double at) {
    const std::array<double, 9>& h = m.h;
    const double x0 = h[1] * at + h[2];
    const double y0 = h[4] * at + h[5];
    for (std::size_t i = 0; i < points; ++i) {
      x[i] = h[0] * along[i] + x0;
      y[i] = h[3] * along[i] + y0;
    }
    if (m.is_affine()) return;
    const double w0 = h[7] * at + h[8];
    for (std::size_t i = 0; i < points; ++i) {
      const double inverse = 1 / (h[6] * along[i] + w0);
      x[i] *= inverse;
      y[i] *= inverse;
    }
  }
};

}  // namespace warpalign::detail
