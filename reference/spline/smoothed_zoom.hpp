// The oracle of zooms without aliasing: a Gaussian filter, then the spline of its result.
#pragma once

#include "reference/spline/evaluate.hpp"
#include "reference/spline/prefilter.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace reference {

/// The Gaussian of scipy.ndimage.gaussian_filter along one axis, truncated at 4 sigma: its weights
/// are samples of the function, scaled to the sum 1.
inline Volume gaussian_along(const Volume& volume, std::size_t axis, double sigma, Edge edge,
                             double cval) {
  if (sigma <= 0) return volume;
  const auto radius = static_cast<std::int64_t>(4 * sigma + 0.5);
  double sum = 0;
  for (std::int64_t k = -radius; k <= radius; ++k) {
    sum += std::exp(-0.5 * static_cast<double>(k * k) / (sigma * sigma));
  }
  Volume result(volume.width, volume.height, volume.depth);
  for_each_voxel(volume.extents(), [&](std::int64_t x, std::int64_t y, std::int64_t z) {
    double mean = 0;
    for (std::int64_t k = -radius; k <= radius; ++k) {
      std::array<std::int64_t, 3> at{x, y, z};
      at[axis] = extended_index(edge, at[axis] + k, volume.extents()[axis]);
      const double value = at[axis] < 0 ? cval : volume.at(at[0], at[1], at[2]);
      mean += std::exp(-0.5 * static_cast<double>(k * k) / (sigma * sigma)) / sum * value;
    }
    result.at(x, y, z) = mean;
  });
  return result;
}

/// A zoom of the first `dimensions` axes. With `aligned`, the edges of the end samples coincide,
/// else their centres. The standard deviation of the Gaussian is that of scikit-image's resize,
/// (step - 1) / 2.
inline Volume smoothed_zoom(const Volume& volume, const std::array<std::int64_t, 3>& extents,
                            int dimensions, int degree, Edge edge, double cval, bool aligned) {
  // All points are inside, where these modes are that of the prefilter.
  if (edge == Edge::constant || edge == Edge::wrap) edge = Edge::mirror;
  std::array<double, 3> step{1, 1, 1};
  Volume smoothed = volume;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(dimensions); ++axis) {
    const auto n = static_cast<double>(volume.extents()[axis]);
    const auto m = static_cast<double>(extents[axis]);
    step[axis] = aligned || m == 1 ? n / m : (n - 1) / (m - 1);
    smoothed = gaussian_along(smoothed, axis, std::max(0.0, (step[axis] - 1) / 2), edge, cval);
  }
  const Spline spline = solve(smoothed, dimensions, degree, edge, cval);
  Volume result(extents[0], extents[1], extents[2]);
  for_each_voxel(extents, [&](std::int64_t x, std::int64_t y, std::int64_t z) {
    std::array<double, 3> point{static_cast<double>(x), static_cast<double>(y),
                                static_cast<double>(z)};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      if (axis >= static_cast<std::size_t>(dimensions)) continue;
      point[axis] = aligned ? (point[axis] + 0.5) * step[axis] - 0.5 : point[axis] * step[axis];
    }
    result.at(x, y, z) = evaluate(spline, point).value;
  });
  return result;
}

}  // namespace reference
