// The oracle of displacements from cubic B-spline coefficients, and of the transposed sums.
#pragma once

#include "reference/volume.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

namespace reference {

/// The voxels of an axis among its control points: voxel k is at first + step k. `spacing` is the
/// distance of control points in the unit of displacements.
struct ControlAxis {
  double first, step, spacing;
};

/// The cubic B-spline and its derivative (Unser 1999).
inline double cubic_basis(double t) {
  const double a = std::abs(t);
  if (a < 1) return 2.0 / 3 - a * a + a * a * a / 2;
  return a < 2 ? (2 - a) * (2 - a) * (2 - a) / 6 : 0;
}
inline double cubic_basis_slope(double t) {
  const double a = std::abs(t);
  const double slope = a < 1 ? -2 * a + 1.5 * a * a : a < 2 ? -(2 - a) * (2 - a) / 2 : 0;
  return t < 0 ? -slope : slope;
}

/// The factor of control point (i, j, k) at voxel (x, y, z); derived along `axis`, or along none if
/// it is -1. In the plane, z has no factor.
inline double control_weight(const std::array<ControlAxis, 3>& axes, bool in_space,
                             const std::array<std::int64_t, 3>& control,
                             const std::array<std::int64_t, 3>& voxel, int axis = -1) {
  double weight = 1;
  for (int a = 0; a < (in_space ? 3 : 2); ++a) {
    const auto i = static_cast<std::size_t>(a);
    const double t = axes[i].first + axes[i].step * static_cast<double>(voxel[i]) -
                     static_cast<double>(control[i]);
    weight *= a == axis ? cubic_basis_slope(t) / axes[i].spacing : cubic_basis(t);
  }
  return weight;
}

/// The displacement along one axis at all voxels, from its coefficients; or its derivative.
inline Volume spline_displacement(const Volume& coefficients,
                                  const std::array<std::int64_t, 3>& voxels,
                                  const std::array<ControlAxis, 3>& axes, int derived = -1) {
  Volume result(voxels[0], voxels[1], voxels[2]);
  const bool in_space = coefficients.depth > 1;
  for_each_voxel(voxels, [&](std::int64_t x, std::int64_t y, std::int64_t z) {
    double sum = 0;
    for_each_voxel(coefficients.extents(), [&](std::int64_t i, std::int64_t j, std::int64_t k) {
      sum +=
          coefficients.at(i, j, k) * control_weight(axes, in_space, {i, j, k}, {x, y, z}, derived);
    });
    result.at(x, y, z) = sum;
  });
  return result;
}

/// The transpose of spline_displacement.
inline Volume spline_sums(const Volume& values, const std::array<std::int64_t, 3>& grid,
                          const std::array<ControlAxis, 3>& axes) {
  Volume result(grid[0], grid[1], grid[2]);
  for_each_voxel(grid, [&](std::int64_t i, std::int64_t j, std::int64_t k) {
    double sum = 0;
    for_each_voxel(values.extents(), [&](std::int64_t x, std::int64_t y, std::int64_t z) {
      sum += values.at(x, y, z) * control_weight(axes, grid[2] > 1, {i, j, k}, {x, y, z});
    });
    result.at(i, j, k) = sum;
  });
  return result;
}

/// det(I + du/dx) at all voxels, from the coefficients of each component.
inline Volume spline_determinants(const std::vector<Volume>& coefficients,
                                  const std::array<std::int64_t, 3>& voxels,
                                  const std::array<ControlAxis, 3>& axes) {
  std::array<std::array<Volume, 3>, 3> slopes;
  const std::size_t n = coefficients.size();
  for (std::size_t a = 0; a < n; ++a) {
    for (std::size_t b = 0; b < n; ++b) {
      slopes[a][b] = spline_displacement(coefficients[a], voxels, axes, static_cast<int>(b));
    }
  }
  Volume result(voxels[0], voxels[1], voxels[2]);
  for (std::size_t v = 0; v < result.values.size(); ++v) {
    std::array<std::array<double, 3>, 3> m{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    for (std::size_t a = 0; a < n; ++a) {
      for (std::size_t b = 0; b < n; ++b) m[a][b] += slopes[a][b].values[v];
    }
    result.values[v] = m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) -
                       m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
                       m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
  }
  return result;
}

/// The value of a volume at a point, by linear interpolation, after clamping to its extents.
inline double linear_value(const Volume& volume, const std::array<double, 3>& point) {
  std::array<std::int64_t, 3> cell{};
  std::array<double, 3> part{};
  for (std::size_t a = 0; a < 3; ++a) {
    const double last = static_cast<double>(volume.extents()[a] - 1);
    const double p = std::clamp(point[a], 0.0, last);
    cell[a] =
        std::min(static_cast<std::int64_t>(p), std::max<std::int64_t>(volume.extents()[a] - 2, 0));
    part[a] = p - static_cast<double>(cell[a]);
  }
  double value = 0;
  for_each_voxel({2, 2, 2}, [&](std::int64_t i, std::int64_t j, std::int64_t k) {
    const double weight = (i != 0 ? part[0] : 1 - part[0]) * (j != 0 ? part[1] : 1 - part[1]) *
                          (k != 0 ? part[2] : 1 - part[2]);
    if (weight != 0) value += weight * volume.at(cell[0] + i, cell[1] + j, cell[2] + k);
  });
  return value;
}

}  // namespace reference
