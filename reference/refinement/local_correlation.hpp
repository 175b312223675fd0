// The oracle of the correlation of two volumes within windows. Derivatives are differences of the
// value, so that no formula of the kernels is repeated.
#pragma once

#include "reference/volume.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace reference {

/// Visits the voxels of the window about (x, y, z), those within the volume.
template <class Visit>
void for_each_in_window(const Volume& volume, const std::array<int, 3>& radius, std::int64_t x,
                        std::int64_t y, std::int64_t z, Visit&& visit) {
  const auto limits = [&](std::int64_t k, int r, std::int64_t n) {
    return std::array<std::int64_t, 2>{std::max<std::int64_t>(k - r, 0), std::min(k + r, n - 1)};
  };
  const auto [x0, x1] = limits(x, radius[0], volume.width);
  const auto [y0, y1] = limits(y, radius[1], volume.height);
  const auto [z0, z1] = limits(z, radius[2], volume.depth);
  for (std::int64_t k = z0; k <= z1; ++k) {
    for (std::int64_t j = y0; j <= y1; ++j) {
      for (std::int64_t i = x0; i <= x1; ++i) visit(i, j, k);
    }
  }
}

struct WindowMoments {
  double voxels = 0, f = 0, w = 0, ff = 0, ww = 0, fw = 0;  ///< means and central moments
};

inline WindowMoments window_moments(const Volume& f, const Volume& w,
                                    const std::array<int, 3>& radius, std::int64_t x,
                                    std::int64_t y, std::int64_t z) {
  WindowMoments m;
  for_each_in_window(f, radius, x, y, z, [&](std::int64_t i, std::int64_t j, std::int64_t k) {
    m.voxels += 1;
    m.f += f.at(i, j, k);
    m.w += w.at(i, j, k);
  });
  m.f /= m.voxels;
  m.w /= m.voxels;
  for_each_in_window(f, radius, x, y, z, [&](std::int64_t i, std::int64_t j, std::int64_t k) {
    const double a = f.at(i, j, k) - m.f;
    const double b = w.at(i, j, k) - m.w;
    m.ff += a * a / m.voxels;
    m.ww += b * b / m.voxels;
    m.fw += a * b / m.voxels;
  });
  return m;
}

/// cov(F, W) / sqrt((var F + floor_f) (var W + floor_w)) in the window about (x, y, z).
inline double window_correlation(const Volume& f, const Volume& w, const std::array<int, 3>& radius,
                                 double floor_f, double floor_w, std::int64_t x, std::int64_t y,
                                 std::int64_t z) {
  const WindowMoments m = window_moments(f, w, radius, x, y, z);
  return m.fw / std::sqrt((m.ff + floor_f) * (m.ww + floor_w));
}

/// The sum of the correlations of the windows that count, about the voxels of `about`'s window.
inline double sum_of_correlations_near(const Volume& f, const Volume& w, const Volume& counts,
                                       const std::array<int, 3>& radius, double floor_f,
                                       double floor_w, const std::array<std::int64_t, 3>& about) {
  double sum = 0;
  for_each_in_window(f, radius, about[0], about[1], about[2],
                     [&](std::int64_t i, std::int64_t j, std::int64_t k) {
                       if (counts.at(i, j, k) == 0) return;
                       sum += window_correlation(f, w, radius, floor_f, floor_w, i, j, k);
                     });
  return sum;
}

/// Half the difference of the neighbours along an axis, or the difference to the only one.
inline double slope_along(const Volume& v, std::size_t axis, std::int64_t x, std::int64_t y,
                          std::int64_t z) {
  std::array<std::int64_t, 3> before{x, y, z};
  std::array<std::int64_t, 3> after{x, y, z};
  before[axis] = std::max<std::int64_t>(before[axis] - 1, 0);
  after[axis] = std::min(after[axis] + 1, v.extents()[axis] - 1);
  const auto distance = static_cast<double>(after[axis] - before[axis]);
  if (distance == 0) return 0;
  return (v.at(after[0], after[1], after[2]) - v.at(before[0], before[1], before[2])) / distance;
}

}  // namespace reference
