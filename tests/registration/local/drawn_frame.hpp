// Frames of a scene that moves, drawn exactly.
#pragma once

#include "support/waves.hpp"

#include <warpalign/geometry.hpp>
#include <warpalign/pixel.hpp>

#include <cstdint>
#include <vector>

namespace test {

/// frame(x + u(x)) = scene(x): drawn at p by solving x = p - u(x), for u that vary slowly.
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
