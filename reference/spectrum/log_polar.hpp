// The oracle of the log-polar map: equations 11 to 13 of the registration paper.
#pragma once

#include "reference/plane.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace reference {

struct Frequency {
  double u = 0;
  double v = 0;
};

/// r = b^i with b = 10^(log10(size) / radii), theta = j pi / angles, on the half plane u >= 0.
inline Frequency frequency_at(std::int64_t width, std::int64_t height, std::int64_t radii,
                              std::int64_t angles, std::int64_t i, std::int64_t j) {
  const auto size = static_cast<double>(std::max(width, height));
  const double base = std::pow(10.0, std::log10(size) / static_cast<double>(radii));
  const double r = std::pow(base, static_cast<double>(i));
  const double theta = std::numbers::pi * static_cast<double>(j) / static_cast<double>(angles) -
                       std::numbers::pi / 2;
  return {r * std::cos(theta) * static_cast<double>(width) / size,
          r * std::sin(theta) * static_cast<double>(height) / size};
}

/// Bilinear interpolation; rows are periodic, and the last column repeats beyond the edge.
inline double magnitude_at(const Plane& magnitude, double u, double v) {
  const double row = v + static_cast<double>(magnitude.height / 2);
  const double x0 = std::floor(u);
  const double y0 = std::floor(row);
  const auto at = [&](double x, double y) {
    const auto column =
        std::clamp(static_cast<std::int64_t>(x), std::int64_t{0}, magnitude.width - 1);
    const std::int64_t wrapped =
        ((static_cast<std::int64_t>(y) % magnitude.height) + magnitude.height) % magnitude.height;
    return magnitude.at(column, wrapped);
  };
  const double a = u - x0;
  const double b = row - y0;
  return (1 - b) * ((1 - a) * at(x0, y0) + a * at(x0 + 1, y0)) +
         b * ((1 - a) * at(x0, y0 + 1) + a * at(x0 + 1, y0 + 1));
}

/// The distance, in samples, of a grid point from the edge of the square of frequencies, beyond
/// which log_polar returns 0.
inline double log_polar_edge_distance(std::int64_t width, std::int64_t height, std::int64_t radii,
                                      std::int64_t angles, std::int64_t i, std::int64_t j) {
  const Frequency f = frequency_at(width, height, radii, angles, i, j);
  return std::min(static_cast<double>(width) / 2 - std::abs(f.u),
                  static_cast<double>(height) / 2 - std::abs(f.v));
}

/// Equations 11 to 13 on the half plane u >= 0; `width` is the real image's width.
inline Plane log_polar(const Plane& magnitude, std::int64_t width, std::int64_t radii,
                       std::int64_t angles) {
  Plane result(radii, angles);
  for (std::int64_t j = 0; j < angles; ++j) {
    for (std::int64_t i = 0; i < radii; ++i) {
      if (log_polar_edge_distance(width, magnitude.height, radii, angles, i, j) < 0) continue;
      const Frequency f = frequency_at(width, magnitude.height, radii, angles, i, j);
      result.at(i, j) = magnitude_at(magnitude, f.u, f.v);
    }
  }
  return result;
}

}  // namespace reference
