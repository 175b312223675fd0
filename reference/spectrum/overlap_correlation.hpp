// The oracle of the correlation of what overlaps.
#pragma once

#include "reference/plane.hpp"

#include <algorithm>
#include <cmath>

namespace reference {

/// sum over x of a(x) b(x - d), or of a(x) b(d - x) where `mirrored`, both going round.
inline Plane correlation(const Plane& a, const Plane& b, bool mirrored) {
  const auto wrapped = [](std::int64_t i, std::int64_t n) { return (i % n + n) % n; };
  Plane result(a.width, a.height);
  for (std::int64_t dy = 0; dy < a.height; ++dy) {
    for (std::int64_t dx = 0; dx < a.width; ++dx) {
      double sum = 0;
      for (std::int64_t y = 0; y < a.height; ++y) {
        for (std::int64_t x = 0; x < a.width; ++x) {
          const std::int64_t u = mirrored ? dx - x : x - dx;
          const std::int64_t v = mirrored ? dy - y : y - dy;
          sum += a.at(x, y) * b.at(wrapped(u, a.width), wrapped(v, a.height));
        }
      }
      result.at(dx, dy) = sum;
    }
  }
  return result;
}

struct ShiftLimits {
  double min_overlap = 1, reach = 0, centre_x = 0, centre_y = 0;
};

/// C / sqrt(N) of unnormalised inverse transforms where a shift is allowed, else 0.
inline Plane overlap_score(const Plane& correlation, const Plane& overlap,
                           const ShiftLimits& limits) {
  const auto plane = static_cast<double>(correlation.width * correlation.height);
  const auto distance = [](std::int64_t i, double centre, std::int64_t n) {
    double least = INFINITY;
    for (int turn = -4; turn <= 4; ++turn) {
      least = std::min(least, std::abs(static_cast<double>(i + turn * n) - centre));
    }
    return least;
  };
  Plane result(correlation.width, correlation.height);
  for (std::int64_t y = 0; y < result.height; ++y) {
    for (std::int64_t x = 0; x < result.width; ++x) {
      const double far = std::hypot(distance(x, limits.centre_x, result.width),
                                    distance(y, limits.centre_y, result.height));
      const double pixels = overlap.at(x, y) / plane;
      if (pixels < limits.min_overlap || (limits.reach > 0 && far > limits.reach)) continue;
      result.at(x, y) = correlation.at(x, y) / plane / std::sqrt(pixels);
    }
  }
  return result;
}

}  // namespace reference
