// The oracle of the impulse noise filter.
#pragma once

#include "reference/plane.hpp"

namespace reference {

inline bool inside(const Plane& image, std::int64_t x, std::int64_t y) {
  return x >= 0 && x < image.width && y >= 0 && y < image.height;
}

/// Whether the pixel is at an end of [lowest, highest] and at most `equal_neighbours` of its eight
/// neighbours are at the same end.
inline bool is_impulse(const Plane& image, std::int64_t x, std::int64_t y, double lowest,
                       double highest, int equal_neighbours) {
  const double value = image.at(x, y);
  if (value > lowest && value < highest) return false;
  int same = 0;
  for (std::int64_t v = y - 1; v <= y + 1; ++v) {
    for (std::int64_t u = x - 1; u <= x + 1; ++u) {
      if ((u == x && v == y) || !inside(image, u, v)) continue;
      if (image.at(u, v) == value) ++same;
    }
  }
  return same <= equal_neighbours;
}

/// Replaces impulses by the mean of the neighbours between the ends, of 3 x 3 or else 5 x 5 pixels,
/// weighted by the inverse of the squared distance.
inline Plane despeckled(const Plane& image, double lowest, double highest) {
  Plane result = image;
  for (std::int64_t y = 0; y < image.height; ++y) {
    for (std::int64_t x = 0; x < image.width; ++x) {
      if (!is_impulse(image, x, y, lowest, highest, 2)) continue;
      double sum = 0, weights = 0;
      for (std::int64_t reach = 1; reach <= 2 && weights == 0; ++reach) {
        for (std::int64_t v = y - reach; v <= y + reach; ++v) {
          for (std::int64_t u = x - reach; u <= x + reach; ++u) {
            if (!inside(image, u, v)) continue;
            const double value = image.at(u, v);
            if (value <= lowest || value >= highest) continue;
            const auto distance = static_cast<double>((u - x) * (u - x) + (v - y) * (v - y));
            sum += value / distance;
            weights += 1 / distance;
          }
        }
      }
      if (weights > 0) result.at(x, y) = sum / weights;
    }
  }
  return result;
}

}  // namespace reference
