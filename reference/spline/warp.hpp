// The oracle of the bilinear warp.
#pragma once

#include "reference/plane.hpp"

#include <array>
#include <cmath>

namespace reference {

/// Bilinear interpolation, zero outside; `m` is (a, b, c, d, e, f), from output to input.
inline Plane warp(const Plane& image, const std::array<double, 6>& m, std::int64_t width,
                  std::int64_t height) {
  Plane result(width, height);
  const auto at = [&](double x, double y) {
    const bool inside = x >= 0 && y >= 0 && x < static_cast<double>(image.width) &&
                        y < static_cast<double>(image.height);
    return inside ? image.at(static_cast<std::int64_t>(x), static_cast<std::int64_t>(y)) : 0.0;
  };
  for (std::int64_t y = 0; y < height; ++y) {
    for (std::int64_t x = 0; x < width; ++x) {
      const auto ox = static_cast<double>(x);
      const auto oy = static_cast<double>(y);
      const double px = m[0] * ox + m[1] * oy + m[2];
      const double py = m[3] * ox + m[4] * oy + m[5];
      const double x0 = std::floor(px);
      const double y0 = std::floor(py);
      const double a = px - x0;
      const double b = py - y0;
      result.at(x, y) = (1 - b) * ((1 - a) * at(x0, y0) + a * at(x0 + 1, y0)) +
                        b * ((1 - a) * at(x0, y0 + 1) + a * at(x0 + 1, y0 + 1));
    }
  }
  return result;
}

}  // namespace reference
