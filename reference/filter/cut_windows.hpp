// The oracle of apodized windows: the mean is subtracted, and a Hann window applied.
#pragma once

#include "reference/plane.hpp"

#include <cmath>
#include <numbers>

namespace reference {

struct CutWindow {
  double mean = 0;
  Plane pixels;
};

/// Hann's window at the middles of n pixels: 1/2 - 1/2 cos(2 pi (i + 1/2) / n).
inline double hann(std::int64_t i, std::int64_t n) {
  return 0.5 - 0.5 * std::cos(2 * std::numbers::pi * (static_cast<double>(i) + 0.5) /
                              static_cast<double>(n));
}

/// Pixels that are not finite count as the mean of the others.
inline CutWindow cut_window(const Plane& frame, std::int64_t left, std::int64_t top,
                            std::int64_t width, std::int64_t height) {
  CutWindow result{0, Plane(width, height)};
  double sum = 0;
  int finite = 0;
  for (std::int64_t y = 0; y < height; ++y) {
    for (std::int64_t x = 0; x < width; ++x) {
      const double value = frame.at(left + x, top + y);
      if (!std::isfinite(value)) continue;
      sum += value;
      ++finite;
    }
  }
  if (finite > 0) result.mean = sum / finite;
  for (std::int64_t y = 0; y < height; ++y) {
    for (std::int64_t x = 0; x < width; ++x) {
      const double value = frame.at(left + x, top + y);
      if (!std::isfinite(value)) continue;
      result.pixels.at(x, y) = (value - result.mean) * hann(x, width) * hann(y, height);
    }
  }
  return result;
}

}  // namespace reference
