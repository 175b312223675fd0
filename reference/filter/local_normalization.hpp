// The oracle of the local normalization.
#pragma once

#include "reference/filter/gaussian.hpp"

#include <cmath>

namespace reference {

/// (v - m) / sqrt(d^2 + floor^2) with a Gaussian truncated at 4 sigma; 0 if `weight` is below 1/2.
inline Plane local_normalization(const Plane& image, const Plane* weight, double sigma,
                                 double floor) {
  Plane result(image.width, image.height);
  for (std::int64_t y = 0; y < image.height; ++y) {
    for (std::int64_t x = 0; x < image.width; ++x) {
      if (weight != nullptr && weight->at(x, y) < 0.5) continue;
      const Position at{static_cast<double>(x), static_cast<double>(y)};
      const auto mean_of = [&](const auto& value) {
        double sum = 0;
        double total = 0;
        around(image, at, sigma, [&](std::int64_t u, std::int64_t v, double w) {
          if (weight != nullptr) w *= weight->at(u, v);
          sum += w * value(image.at(u, v));
          total += w;
        });
        return sum / total;
      };
      const double mean = mean_of([](double v) { return v; });
      const double variance = mean_of([&](double v) { return (v - mean) * (v - mean); });
      result.at(x, y) = (image.at(x, y) - mean) / std::sqrt(variance + floor * floor);
    }
  }
  return result;
}

}  // namespace reference
