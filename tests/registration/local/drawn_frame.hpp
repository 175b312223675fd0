// Frames of a moving scene, drawn without interpolation.
#pragma once

#include "support/waves.hpp"

#include <warpalign/geometry.hpp>
#include <warpalign/pixel.hpp>

#include <cstdint>
#include <vector>

namespace test {

/// Draws a frame with frame(x + u(x)) = scene(x): for each pixel p it solves x = p - u(x), for a
/// slowly varying u.
template <class Displacement>
std::vector<float> drawn_frame(const Waves& scene, const warpalign::Shape& shape,
                               const Displacement& u) {
  std::vector<float> pixels;
  for (std::int64_t y = 0; y < shape.height; ++y) {
    for (std::int64_t x = 0; x < shape.width; ++x) {
      const warpalign::Point p{static_cast<double>(x), static_cast<double>(y)};
      warpalign::Point q = p;
      for (int i = 0; i < 20; ++i) {
        const warpalign::Point moved = u(q);
        q = {p.x - moved.x, p.y - moved.y};
      }
      pixels.push_back(static_cast<float>(scene.at(q.x, q.y)));
    }
  }
  return pixels;
}

}  // namespace test
