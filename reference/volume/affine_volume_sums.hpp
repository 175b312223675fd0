// The oracle of the sums of a Gauss-Newton step for the affine transform between two volumes.
#pragma once

#include "reference/spline/evaluate.hpp"
#include "reference/spline/prefilter.hpp"
#include "reference/volume.hpp"
#include "reference/volume/marked_volume.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace reference {

struct AffineVolumeState {
  std::array<double, 12> rows{};
  double gain = 1, offset = 0, scale = 0;  ///< of Tukey's biweight; 0: no weights
};

struct AffineVolumeSums {
  std::array<double, 144> matrix{};
  std::array<double, 12> vector{};
  double weight = 0, r = 0, m = 0, rr = 0, mm = 0, rm = 0, voxels = 0, absolute = 0;
  double squares = 0;  ///< sum of the squares of all gradients of either volume
  /// Voxels outside the margin whose validity a rounding error of 2e-5 would change.
  double ambiguous = 0;
};

/// The biweight of Beaton and Tukey (1974).
inline double biweight(double residual, double scale) {
  if (scale == 0) return 1;
  const double u = residual / scale;
  return std::abs(u) < 1 ? (1 - u * u) * (1 - u * u) : 0;
}

/// A rounding error of a position, which may decide whether a voxel is valid.
constexpr double position_rounding = 2e-5;

/// Whether the spline at a position uses no NaN. If a rounding error may decide this, adds to
/// `ambiguous`. All coefficients exist.
inline bool spline_counts_at(const Volume& moving, const std::array<double, 3>& at,
                             double& ambiguous) {
  std::array<std::int64_t, 3> cell{}, first{}, last{};
  bool is_near = false;  // to the boundary of a cell
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::int64_t end = moving.extents()[axis] - 1;
    const auto cell_of = [](double x) { return static_cast<std::int64_t>(std::floor(x)); };
    cell[axis] = cell_of(at[axis]);
    first[axis] = std::max<std::int64_t>(cell_of(at[axis] - position_rounding) - 1, 0);
    last[axis] = std::min(cell_of(at[axis] + position_rounding) + 2, end);
    is_near = is_near || first[axis] < cell[axis] - 1 || last[axis] > cell[axis] + 2;
  }
  if (is_near && !all_count(moving, first, last)) ambiguous += 1;
  return spline_counts(moving, cell);
}

/// The gradient in the derivatives is the average of both volumes': (a b' + b a') / 2. Voxels that
/// need a NaN are skipped.
inline AffineVolumeSums affine_volume_sums(const Volume& reference, const Volume& moving,
                                           const AffineVolumeState& state, std::int64_t margin) {
  const Spline spline = unfiltered(moving, 3, 3, Edge::mirror);
  const auto sides = reference.extents();
  const auto largest = static_cast<double>(std::max({sides[0], sides[1], sides[2]}));
  AffineVolumeSums sums;
  for_each_voxel(sides, [&](std::int64_t x, std::int64_t y, std::int64_t z) {
    const std::array<std::int64_t, 3> p{x, y, z};
    std::array<double, 4> u{0, 0, 0, 1};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      if (p[axis] < margin || p[axis] >= sides[axis] - margin) return;
      u[axis] = static_cast<double>(p[axis]) - static_cast<double>(sides[axis] - 1) / 2;
    }
    std::array<double, 3> at{};
    bool counts = true;
    double within = 1;  // the minimum distance of the position from invalid ones
    for (std::size_t axis = 0; axis < 3; ++axis) {
      for (std::size_t j = 0; j < 4; ++j) at[axis] += state.rows[4 * axis + j] * u[j];
      const auto end = static_cast<double>(moving.extents()[axis] - 2);
      counts = counts && at[axis] >= 1 && at[axis] < end;
      within = std::min({within, at[axis] - 1, end - at[axis]});
    }
    if (std::abs(within) < position_rounding) sums.ambiguous += 1;
    if (!counts || !neighbours_count(reference, p)) return;
    if (!spline_counts_at(moving, at, sums.ambiguous)) return;
    const auto m = evaluate(spline, at);
    const double r = reference.at(x, y, z);
    const std::array<double, 3> a{(reference.at(x + 1, y, z) - reference.at(x - 1, y, z)) / 2,
                                  (reference.at(x, y + 1, z) - reference.at(x, y - 1, z)) / 2,
                                  (reference.at(x, y, z + 1) - reference.at(x, y, z - 1)) / 2};
    std::array<double, 3> b{};
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t k = 0; k < 3; ++k) b[i] += state.rows[4 * k + i] * m.gradient[k];
      sums.squares += a[i] * a[i] + b[i] * b[i];
    }
    const std::array<double, 4> q{2 * u[0] / largest, 2 * u[1] / largest, 2 * u[2] / largest, 1};
    const double residual = m.value - state.gain * r - state.offset;
    const double weight = biweight(residual, state.scale);
    for (std::size_t row = 0; row < 12; ++row) {
      for (std::size_t column = 0; column < 12; ++column) {
        const std::size_t i = row / 4, k = column / 4;
        sums.matrix[12 * row + column] +=
            weight * (a[i] * b[k] + b[i] * a[k]) / 2 * q[row % 4] * q[column % 4];
      }
      sums.vector[row] += weight * a[row / 4] * q[row % 4] * residual;
    }
    sums.weight += weight;
    sums.r += weight * r;
    sums.m += weight * m.value;
    sums.rr += weight * r * r;
    sums.mm += weight * m.value * m.value;
    sums.rm += weight * r * m.value;
    sums.voxels += 1;
    sums.absolute += std::abs(residual);
  });
  return sums;
}

}  // namespace reference
