// Gauss-Newton estimation of the shift between two volumes (Lucas & Kanade 1981), with a gain and
// an offset between them as further unknowns.
#include "registration/volume/fitting/volume_fit.hpp"

#include "registration/numerics/confidence.hpp"
#include "registration/numerics/correlation.hpp"
#include "registration/numerics/small_matrix.hpp"
#include "registration/numerics/small_solver.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace warpalign::detail {

namespace {

constexpr int max_iterations = 15;
constexpr double tolerance = 2e-4;   // voxels; the fit ends after a smaller step
constexpr double max_axis_step = 1;  // voxels, along an axis
constexpr double max_drift = 3;      // voxels from the start, along an axis

// Solves H x = b by Cramer's rule. Returns nothing unless the symmetric part of H is positive
// definite, as it is near the maximum of the correlation.
std::optional<Vector3> solve_at_maximum(const Matrix3& h, const Vector3& b) {
  Matrix3 symmetric{};
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) symmetric[3 * i + j] = (h[3 * i + j] + h[3 * j + i]) / 2;
  }
  Vector3 solution = b;
  if (!solve_symmetric(symmetric, solution)) return std::nullopt;
  const double whole = determinant(h);
  for (std::size_t column = 0; column < 3; ++column) {
    Matrix3 replaced = h;
    for (std::size_t row = 0; row < 3; ++row) replaced[3 * row + column] = b[row];
    solution[column] = determinant(replaced) / whole;
  }
  return solution;
}

// Solves sum a_i (m + b delta - gain r - offset) = 0 for delta, where a is the gradient of the
// reference r and b the gradient of the moving volume m. The gain and the offset match the standard
// deviations and the means of the volumes. Least squares would use b in place of a, which biases
// the solution towards shifts at which interpolation damps the noise of m most. Here a is an
// instrumental variable in the sense of econometrics: its noise is independent of the noise of m
// and, because a is the difference of the neighbours on either side, of the noise of r.
std::optional<Vector3> step_of(const VolumeStepSums& s) {
  const double n = s.voxels;
  const double reference_mean = s.reference / n;
  const double moving_mean = s.moving / n;
  const double reference_variance = s.reference_square / n - reference_mean * reference_mean;
  const double moving_variance = s.moving_square / n - moving_mean * moving_mean;
  if (!(reference_variance > 0) || !(moving_variance > 0)) return std::nullopt;
  const double gain = std::sqrt(moving_variance / reference_variance);
  const double offset = moving_mean - gain * reference_mean;
  Vector3 b{};
  for (std::size_t i = 0; i < 3; ++i) {
    b[i] = gain * s.slope_reference[i] + offset * s.slope[i] - s.slope_moving[i];
  }
  return solve_at_maximum(s.slopes, b);
}

ShiftScore agreement_of(const VolumeStepSums& s, const VolumePair& pair, const Vector3& shift) {
  ShiftScore found{{shift[0], shift[1], shift[2]}};
  found.correlation = correlation_of(
      Moments{s.voxels, s.reference, s.moving, s.reference_square, s.moving_square, s.product});
  found.significance = volume_significance(found.correlation, pair.independent_fraction * s.voxels);
  return found;
}

VolumeStepSums sums_at(Stream& stream, StageClock& clock, const VolumePair& pair,
                       const Vector3& shift) {
  VolumeStepSums sums;
  clock.run("volume_step",
            [&] { sums = pair.sums.step(stream, pair.reference, pair.moving, shift); });
  return sums;
}

// A step ignores the outermost voxels of both volumes, so small volumes lose part of their overlap.
bool has_sufficient_overlap(const VolumeStepSums& sums, const VolumePair& pair) {
  return sums.voxels > 27 && sums.voxels >= pair.min_overlap / 2;
}

// When a shift passes a whole voxel, the set of overlapping voxels changes, and the solution for
// either set may lie on the other side. The steps then oscillate by a few thousandths of a voxel
// unless they are damped.
bool reverses(const Vector3& step, const Vector3& last) {
  const auto product = [](const Vector3& a, const Vector3& b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  };
  return product(step, last) < 0 && product(step, step) > product(last, last) / 4;
}

}  // namespace

std::optional<ShiftScore> evaluate_volumes(Stream& stream, StageClock& clock,
                                           const VolumePair& pair, const Point3& shift) {
  const Vector3 at{shift.x, shift.y, shift.z};
  const VolumeStepSums sums = sums_at(stream, clock, pair, at);
  if (!has_sufficient_overlap(sums, pair)) return std::nullopt;
  return agreement_of(sums, pair, at);
}

std::optional<ShiftScore> fit_volumes(Stream& stream, StageClock& clock, const VolumePair& pair,
                                      const Point3& start) {
  const Vector3 from{start.x, start.y, start.z};
  Vector3 at = from;
  Vector3 last{};
  double damping = 1;
  for (int i = 0; i < max_iterations; ++i) {
    const VolumeStepSums sums = sums_at(stream, clock, pair, at);
    if (!has_sufficient_overlap(sums, pair)) return std::nullopt;
    const std::optional<Vector3> step = step_of(sums);
    if (!step) return std::nullopt;
    if (reverses(*step, last)) damping /= 2;
    last = *step;
    double maximum = 0;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const double damped = damping * (*step)[axis];
      at[axis] += std::clamp(damped, -max_axis_step, max_axis_step);
      maximum = std::max(maximum, std::abs(damped));
      if (std::abs(at[axis] - from[axis]) > max_drift) return std::nullopt;
    }
    if (maximum < tolerance) return agreement_of(sums, pair, at);
  }
  return std::nullopt;
}

}  // namespace warpalign::detail
