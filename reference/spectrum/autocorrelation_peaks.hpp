// The oracle of the shifts at which an image resembles itself.
#pragma once

#include "reference/plane.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <vector>

namespace reference {

/// The mean product of the pixels that an image and its copy, shifted by (dx, dy), have in common.
inline double mean_product(const Plane& image, std::int64_t dx, std::int64_t dy) {
  double sum = 0, count = 0;
  for (std::int64_t y = std::max<std::int64_t>(0, dy); y < image.height && y - dy < image.height;
       ++y) {
    for (std::int64_t x = std::max<std::int64_t>(0, dx); x < image.width && x - dx < image.width;
         ++x) {
      if (y - dy < 0 || x - dx < 0) continue;
      sum += image.at(x, y) * image.at(x - dx, y - dy);
      count += 1;
    }
  }
  return sum / count;
}

/// The sums of the products at the shifts up to one pixel more than half the sides, in a periodic
/// surface with shift 0 at pixel (0, 0). The other pixels are infinite.
inline Plane autocorrelation(const Plane& image, std::int64_t width, std::int64_t height) {
  Plane surface(width, height);
  std::fill(surface.values.begin(), surface.values.end(), std::numeric_limits<double>::infinity());
  for (std::int64_t dy = -image.height / 2 - 1; dy <= image.height / 2 + 1; ++dy) {
    for (std::int64_t dx = -image.width / 2 - 1; dx <= image.width / 2 + 1; ++dx) {
      const auto common =
          static_cast<double>((image.width - std::abs(dx)) * (image.height - std::abs(dy)));
      surface.at((dx + width) % width, (dy + height) % height) =
          common * mean_product(image, dx, dy);
    }
  }
  return surface;
}

/// For each row of shifts, from 0 to half the height, the highest mean product of those within half
/// the width that none of their eight neighbours exceeds, relative to that of shift 0; without
/// shift 0 and its neighbours, and at least 0.
inline std::vector<double> autocorrelation_peaks(const Plane& image) {
  const double whole = mean_product(image, 0, 0);
  std::vector<double> peaks;
  for (std::int64_t dy = 0; dy <= image.height / 2; ++dy) {
    double best = 0;
    for (std::int64_t dx = -(image.width / 2); dx <= image.width / 2; ++dx) {
      if (std::max(std::abs(dx), dy) <= 1) continue;
      const double here = mean_product(image, dx, dy);
      bool is_maximum = true;
      for (std::int64_t j = -1; j <= 1; ++j) {
        for (std::int64_t i = -1; i <= 1; ++i) {
          if (i == 0 && j == 0) continue;
          is_maximum = is_maximum && mean_product(image, dx + i, dy + j) <= here;
        }
      }
      if (is_maximum) best = std::max(best, here);
    }
    peaks.push_back(whole > 0 ? best / whole : 0);
  }
  return peaks;
}

}  // namespace reference
