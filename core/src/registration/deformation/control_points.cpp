// Control points of a deformation on the host: refinement of the grid, relaxation where the field
// nearly folds, and the inverse curvatures of an optimisation.
#include "registration/deformation/control_points.hpp"

#include "registration/deformation/sides.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace warpalign::detail {

namespace {

/// Splits each control point along one axis: `length` points, at the distance `inner`.
std::vector<float> refined_along(const std::vector<float>& from, std::int64_t inner,
                                 std::int64_t length, std::int64_t outer, std::int64_t result) {
  std::vector<float> to(static_cast<std::size_t>(outer * result * inner));
  for (std::int64_t o = 0; o < outer; ++o) {
    for (std::int64_t j = 0; j < result; ++j) {
      // Point j of the fine grid is at point (j + 1) / 2 of the coarse one.
      const std::int64_t i = std::min((j + 1) / 2, length - 1);
      const bool between = (j + 1) % 2 != 0;
      const float* here = from.data() + (o * length + i) * inner;
      const float* before = i > 0 ? here - inner : here;
      const float* after = i + 1 < length ? here + inner : here;
      float* target = to.data() + (o * result + j) * inner;
      for (std::int64_t x = 0; x < inner; ++x) {
        target[x] = between ? 0.5F * (here[x] + after[x])
                            : 0.125F * (before[x] + after[x]) + 0.75F * here[x];
      }
    }
  }
  return to;
}

/// The mean of the neighbours along all axes.
float neighbours_mean(const float* values, const Sides& grid, const Sides& at) {
  const Sides stride{1, grid[0], grid[0] * grid[1]};
  const float* here = values + at[0] + at[1] * stride[1] + at[2] * stride[2];
  float sum = 0;
  int count = 0;
  for (std::size_t a = 0; a < 3; ++a) {
    // Both or none: one neighbour alone would pull an edge inwards.
    if (at[a] == 0 || at[a] + 1 == grid[a]) continue;
    sum += here[stride[a]] + here[-stride[a]];
    count += 2;
  }
  return count > 0 ? sum / static_cast<float>(count) : *here;
}

}  // namespace

std::vector<float> refined(std::span<const float> coefficients, const Shape& coarse,
                           const Shape& fine, int components) {
  const Sides from = sides_of(coarse);
  const Sides to = sides_of(fine);
  std::vector<float> result(coefficients.begin(), coefficients.end());
  result = refined_along(result, 1, from[0], from[1] * from[2] * components, to[0]);
  result = refined_along(result, to[0], from[1], from[2] * components, to[1]);
  if (from[2] == 1) return result;
  return refined_along(result, to[0] * to[1], from[2], components, to[2]);
}

std::vector<float> refined_between(std::span<const float> coefficients,
                                   const DeformableLevel& coarse, const DeformableLevel& fine,
                                   const Shape& image) {
  std::vector<float> result(coefficients.begin(), coefficients.end());
  std::array<double, 3> spacing = coarse.spacing;
  Shape grid = coarse.grid;
  while (spacing[0] > 1.5 * fine.spacing[0]) {
    for (double& each : spacing) each /= 2;
    const Shape finer = grid_shape(image, spacing);
    result = refined(result, grid, finer, image.depth > 1 ? 3 : 2);
    grid = finer;
  }
  return result;
}

void relax(std::span<float> coefficients, const DeformationGridSpec& spec,
           std::span<const float> marks) {
  const auto controls = static_cast<std::size_t>(spec.grid.pixels());
  const Sides grid = sides_of(spec.grid);
  const std::vector<float> before(coefficients.begin(), coefficients.end());
  for (std::size_t c = 0; c < controls; ++c) {
    if (marks[c] == 0) continue;
    const auto at = static_cast<std::int64_t>(c);
    const Sides index{at % grid[0], at / grid[0] % grid[1], at / (grid[0] * grid[1])};
    for (std::size_t a = 0; a < static_cast<std::size_t>(spec.dimensions()); ++a) {
      const float mean = neighbours_mean(before.data() + a * controls, grid, index);
      coefficients[a * controls + c] = 0.5F * (before[a * controls + c] + mean);
    }
  }
}

std::vector<float> inverse_curvatures(std::span<const float> curvatures, int axes,
                                      const std::array<double, 3>& factors,
                                      const std::array<double, 3>& smoothness) {
  const bool in_space = axes == 3;
  const std::size_t entries = in_space ? 6 : 3;
  const std::size_t controls = curvatures.size() / entries;
  std::vector<float> result(curvatures.size());
  const auto& f = factors;
  double trace = 0;
  const auto entry = [&](std::size_t number, std::size_t control) {
    return static_cast<double>(curvatures[number * controls + control]);
  };
  for (std::size_t c = 0; c < controls; ++c) {
    trace += f[0] * f[0] * entry(0, c) + f[1] * f[1] * entry(in_space ? 3 : 2, c);
    if (in_space) trace += f[2] * f[2] * entry(5, c);
  }
  // Keeps matrices without any structure regular.
  const double least = 1e-6 * trace / static_cast<double>(controls) + 1e-12;
  const auto put = [&](std::size_t number, std::size_t control, double value) {
    result[number * controls + control] = static_cast<float>(value);
  };
  for (std::size_t c = 0; c < controls; ++c) {
    const double xx = f[0] * f[0] * entry(0, c) + smoothness[0] + least;
    const double xy = f[0] * f[1] * entry(1, c);
    if (!in_space) {
      const double yy = f[1] * f[1] * entry(2, c) + smoothness[1] + least;
      const double per = 1 / (xx * yy - xy * xy);
      put(0, c, yy * per);
      put(1, c, -xy * per);
      put(2, c, xx * per);
      continue;
    }
    const double xz = f[0] * f[2] * entry(2, c);
    const double yy = f[1] * f[1] * entry(3, c) + smoothness[1] + least;
    const double yz = f[1] * f[2] * entry(4, c);
    const double zz = f[2] * f[2] * entry(5, c) + smoothness[2] + least;
    const double a = yy * zz - yz * yz;
    const double b = xz * yz - xy * zz;
    const double d = xy * yz - xz * yy;
    const double per = 1 / (xx * a + xy * b + xz * d);
    put(0, c, a * per);
    put(1, c, b * per);
    put(2, c, d * per);
    put(3, c, (xx * zz - xz * xz) * per);
    put(4, c, (xy * xz - xx * yz) * per);
    put(5, c, (xx * yy - xy * xy) * per);
  }
  return result;
}

}  // namespace warpalign::detail
