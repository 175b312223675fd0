// Gaussian weights around a point, truncated at 4 sigma along each axis.
#pragma once

#include "reference/plane.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace reference {

struct Position {
  double x, y;
};

struct Tap {
  std::int64_t pixel;
  double weight;
};

/// The weights along one axis of n pixels; if sigma is 0, only the nearest pixel.
inline std::vector<Tap> gaussian(double at, std::int64_t n, double sigma) {
  const auto nearest = std::clamp<std::int64_t>(std::llround(at), 0, n - 1);
  const auto reach = static_cast<std::int64_t>(4 * sigma) + 2;
  std::vector<Tap> taps;
  for (std::int64_t i = std::max<std::int64_t>(nearest - reach, 0);
       i <= std::min(nearest + reach, n - 1); ++i) {
    const double distance = static_cast<double>(i) - at;
    if (i == nearest && sigma == 0) taps.push_back({i, 1});
    if (sigma == 0 || std::abs(distance) > 4 * sigma) continue;
    taps.push_back({i, std::exp(-distance * distance / (2 * sigma * sigma))});
  }
  return taps;
}

/// Calls visit(x, y, weight) for the pixels of a Gaussian about a position.
template <class Visit>
void around(const Plane& image, Position at, double sigma, const Visit& visit) {
  const std::vector<Tap> columns = gaussian(at.x, image.width, sigma);
  for (const Tap& row : gaussian(at.y, image.height, sigma)) {
    for (const Tap& column : columns) visit(column.pixel, row.pixel, row.weight * column.weight);
  }
}

}  // namespace reference
