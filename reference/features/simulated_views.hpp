// The oracle of simulated views, which simulate a tilt of the camera.
#pragma once

#include "reference/plane.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace reference {

/// Pixel (x, y) of the view lies at (a x + b y + c, d x + e y + f) in the image.
struct ViewMap {
  double a = 1, b = 0, c = 0, d = 0, e = 1, f = 0;
};

/// Bilinear interpolation; pixels beyond the edges repeat the edge.
inline double view_sample(const Plane& image, double x, double y) {
  const double u = std::clamp(x, 0.0, static_cast<double>(image.width - 1));
  const double v = std::clamp(y, 0.0, static_cast<double>(image.height - 1));
  const auto left = static_cast<std::int64_t>(std::floor(u));
  const auto top = static_cast<std::int64_t>(std::floor(v));
  const double across = u - static_cast<double>(left);
  const double down = v - static_cast<double>(top);
  const std::int64_t right = std::min(left + 1, image.width - 1);
  const std::int64_t below = std::min(top + 1, image.height - 1);
  return (1 - down) * ((1 - across) * image.at(left, top) + across * image.at(right, top)) +
         down * ((1 - across) * image.at(left, below) + across * image.at(right, below));
}

/// Each pixel is the mean of samples along its extent in the view's x direction.
inline Plane simulated_view(const Plane& image, std::int64_t width, std::int64_t height,
                            const ViewMap& map) {
  const double length = std::sqrt(map.a * map.a + map.d * map.d);
  const auto samples = static_cast<std::int64_t>(std::ceil(std::max(length, 1.0)));
  Plane view(width, height);
  for (std::int64_t y = 0; y < height; ++y) {
    for (std::int64_t x = 0; x < width; ++x) {
      double sum = 0;
      for (std::int64_t i = 0; i < samples; ++i) {
        // From half a pixel before the pixel's middle to half a pixel after it.
        const double part = (static_cast<double>(i) + 0.5) / static_cast<double>(samples);
        const double u = static_cast<double>(x) - 0.5 + part;
        const auto v = static_cast<double>(y);
        sum += view_sample(image, map.a * u + map.b * v + map.c, map.d * u + map.e * v + map.f);
      }
      view.at(x, y) = sum / static_cast<double>(samples);
    }
  }
  return view;
}

}  // namespace reference
