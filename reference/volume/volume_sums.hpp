// The oracle of the sums over two volumes: the moments at a shift, and the sums of a Gauss-Newton
// step.
#pragma once

#include "reference/spline/evaluate.hpp"
#include "reference/spline/prefilter.hpp"
#include "reference/volume.hpp"
#include "reference/volume/marked_volume.hpp"

#include <array>
#include <cmath>
#include <cstdint>

namespace reference {

using Shift3 = std::array<std::int64_t, 3>;

struct OverlapMoments {
  double voxels = 0, reference = 0, moving = 0;
  double reference_square = 0, moving_square = 0, product = 0;
};

inline void add_pair(OverlapMoments& sums, double r, double m) {
  sums.voxels += 1;
  sums.reference += r;
  sums.moving += m;
  sums.reference_square += r * r;
  sums.moving_square += m * m;
  sums.product += r * m;
}

/// The moments of the reference voxels p and moving voxels p + shift, both not NaN.
inline OverlapMoments overlap_moments(const Volume& reference, const Volume& moving,
                                      const Shift3& shift) {
  OverlapMoments sums;
  for_each_voxel(reference.extents(), [&](std::int64_t x, std::int64_t y, std::int64_t z) {
    const Shift3 q{x + shift[0], y + shift[1], z + shift[2]};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      if (q[axis] < 0 || q[axis] >= moving.extents()[axis]) return;
    }
    if (!all_count(reference, {x, y, z}, {x, y, z}) || !all_count(moving, q, q)) return;
    add_pair(sums, reference.at(x, y, z), moving.at(q[0], q[1], q[2]));
  });
  return sums;
}

struct StepSums : OverlapMoments {
  std::array<double, 9> slopes{};
  std::array<double, 3> slope_reference{}, slope_moving{}, slope{};
  double squares = 0;  ///< sum of the squares of all slopes of either volume
};

/// Interpolates the moving volume's voxels, as coefficients of the cubic B-spline, at p + shift,
/// with its gradient; the reference's gradient is half the differences of its neighbours. Voxels
/// that need a NaN are skipped.
inline StepSums step_sums(const Volume& reference, const Volume& moving,
                          const std::array<double, 3>& shift, std::int64_t margin) {
  const Spline spline = unfiltered(moving, 3, 3, Edge::mirror);
  StepSums sums;
  for_each_voxel(reference.extents(), [&](std::int64_t x, std::int64_t y, std::int64_t z) {
    const Shift3 p{x, y, z};
    std::array<double, 3> q{};
    Shift3 cells{};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      if (p[axis] < margin || p[axis] >= reference.extents()[axis] - margin) return;
      q[axis] = static_cast<double>(p[axis]) + shift[axis];
      const auto cell = static_cast<std::int64_t>(std::floor(q[axis]));
      if (cell < 1 || cell + 2 >= moving.extents()[axis]) return;
      cells[axis] = cell;
    }
    if (!neighbours_count(reference, p) || !spline_counts(moving, cells)) return;
    const auto m = evaluate(spline, q);
    const double r = reference.at(x, y, z);
    const std::array<double, 3> a{(reference.at(x + 1, y, z) - reference.at(x - 1, y, z)) / 2,
                                  (reference.at(x, y + 1, z) - reference.at(x, y - 1, z)) / 2,
                                  (reference.at(x, y, z + 1) - reference.at(x, y, z - 1)) / 2};
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t j = 0; j < 3; ++j) sums.slopes[3 * i + j] += a[i] * m.gradient[j];
      sums.slope_reference[i] += a[i] * r;
      sums.slope_moving[i] += a[i] * m.value;
      sums.slope[i] += a[i];
      sums.squares += a[i] * a[i] + m.gradient[i] * m.gradient[i];
    }
    add_pair(sums, r, m.value);
  });
  return sums;
}

}  // namespace reference
