// The oracle of affine resampling without aliasing, in two dimensions: the mean of a spline over
// the footprint of each output pixel (elliptical weighted average, Heckbert 1989).
#pragma once

#include "reference/spline/evaluate.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

namespace reference {

/// The rows a b c and d e f of a transform from output to input: (a x + b y + c, d x + e y + f).
using PlaneTransform = std::array<double, 6>;

/// A footprint's axis: its direction, and the standard deviation of the Gaussian along it.
struct FootprintAxis {
  double x, y, sigma;
};

/// The principal axes of J J^T = [[p, q], [q, r]], by the angle of the larger one: tan 2 angle =
/// 2 q / (p - r). Sigma is (s - 1) / 2 for s samples per output pixel, the root of the eigenvalue.
inline std::array<FootprintAxis, 2> footprint_axes(const PlaneTransform& t) {
  const double p = t[0] * t[0] + t[1] * t[1];
  const double q = t[0] * t[3] + t[1] * t[4];
  const double r = t[3] * t[3] + t[4] * t[4];
  const bool is_circle = std::hypot(2 * q, p - r) < 1e-9 * (p + r);
  const double angle = is_circle ? 0.0 : std::atan2(2 * q, p - r) / 2;
  std::array<FootprintAxis, 2> axes{};
  for (std::size_t i = 0; i < 2; ++i) {
    const double x = std::cos(angle + static_cast<double>(i) * std::acos(0.0));
    const double y = std::sin(angle + static_cast<double>(i) * std::acos(0.0));
    const double s = std::sqrt(x * x * p + 2 * x * y * q + y * y * r);
    axes[i] = {x, y, s > 1 + 1e-9 ? (s - 1) / 2 : 0};
  }
  return axes;
}

/// The sum of the spline at points one sample apart along both axes, up to 4 sigma, weighted by the
/// Gaussians and divided by the sum of the weights.
inline double footprint_mean(const Spline& spline, const PlaneTransform& t, double x, double y) {
  const auto axes = footprint_axes(t);
  const auto radius = [](double sigma) { return static_cast<std::int64_t>(4 * sigma + 0.5); };
  const auto weight = [](std::int64_t k, double sigma) {
    return k == 0 ? 1.0 : std::exp(-0.5 * static_cast<double>(k * k) / (sigma * sigma));
  };
  double sum = 0, weights = 0;
  for (std::int64_t j = -radius(axes[1].sigma); j <= radius(axes[1].sigma); ++j) {
    for (std::int64_t i = -radius(axes[0].sigma); i <= radius(axes[0].sigma); ++i) {
      const double w = weight(i, axes[0].sigma) * weight(j, axes[1].sigma);
      const auto u = static_cast<double>(i), v = static_cast<double>(j);
      const double at_x = t[0] * x + t[1] * y + t[2] + u * axes[0].x + v * axes[1].x;
      const double at_y = t[3] * x + t[4] * y + t[5] + u * axes[0].y + v * axes[1].y;
      sum += w * evaluate(spline, {at_x, at_y, 0}).value;
      weights += w;
    }
  }
  return sum / weights;
}

}  // namespace reference
