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

inline Plane part_of(const Plane& frame, std::int64_t left, std::int64_t top, std::int64_t width,
                     std::int64_t height) {
  Plane part(width, height);
  for (std::int64_t y = 0; y < height; ++y) {
    for (std::int64_t x = 0; x < width; ++x) part.at(x, y) = frame.at(left + x, top + y);
  }
  return part;
}

/// The mean of the finite values; 0 if there are none.
inline double finite_mean(const Plane& plane) {
  double sum = 0;
  double count = 0;
  for (const double value : plane.values) {
    if (!std::isfinite(value)) continue;
    sum += value;
    ++count;
  }
  return count > 0 ? sum / count : 0;
}

/// Pixels that are not finite are replaced by the mean of the others.
inline CutWindow cut_window(const Plane& frame, std::int64_t left, std::int64_t top,
                            std::int64_t width, std::int64_t height) {
  const Plane window = part_of(frame, left, top, width, height);
  CutWindow result{finite_mean(window), Plane(width, height)};
  for (std::int64_t y = 0; y < height; ++y) {
    for (std::int64_t x = 0; x < width; ++x) {
      if (!std::isfinite(window.at(x, y))) continue;
      result.pixels.at(x, y) = (window.at(x, y) - result.mean) * hann(x, width) * hann(y, height);
    }
  }
  return result;
}

}  // namespace reference
