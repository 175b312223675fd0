// The oracle of the window and the padding.
#pragma once

#include "reference/plane.hpp"

#include <cmath>
#include <numbers>

namespace reference {

/// 1/2 - 1/2 cos(2 pi (i + 1/2) / n)
inline double hann_at(std::int64_t i, std::int64_t n) {
  return 0.5 - 0.5 * std::cos(2 * std::numbers::pi * (static_cast<double>(i) + 0.5) /
                              static_cast<double>(n));
}

/// Subtracts the mean, applies a Hann window (or none), and centres the result in a frame of zeros.
inline Plane apodize(const Plane& image, double mean, std::int64_t width, std::int64_t height,
                     bool hann) {
  Plane padded(width, height);
  const std::int64_t ox = (width - image.width) / 2;
  const std::int64_t oy = (height - image.height) / 2;
  for (std::int64_t y = 0; y < image.height; ++y) {
    for (std::int64_t x = 0; x < image.width; ++x) {
      const double value = std::isfinite(image.at(x, y)) ? image.at(x, y) - mean : 0;
      const double weight = hann ? hann_at(x, image.width) * hann_at(y, image.height) : 1;
      padded.at(x + ox, y + oy) = value * weight;
    }
  }
  return padded;
}

}  // namespace reference
