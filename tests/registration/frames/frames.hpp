// Frames of one scene for the tests of FrameRegistrar: their size, noise and illumination.
#pragma once

#include "support/waves.hpp"

#include <warpalign/pixel.hpp>

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace frames {

constexpr std::int64_t width = 300;
constexpr std::int64_t height = 270;

class Scene : public test::Waves {
 public:
  explicit Scene(std::uint32_t seed) : Waves(seed, 80) {}
};

using Pixels = std::vector<float>;

/// The standard deviation of such a scene: 80 sines whose squared amplitudes have a mean of 23.
constexpr double deviation = 30;

inline void add_noise(Pixels& pixels, double noise, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal(0, noise);
  for (float& pixel : pixels) pixel += static_cast<float>(normal(random));
}

/// Applies a gain and an offset that change from one side to the other.
inline void apply_uneven_illumination(Pixels& pixels) {
  for (std::int64_t y = 0; y < height; ++y) {
    for (std::int64_t x = 0; x < width; ++x) {
      float& pixel = pixels[static_cast<std::size_t>(y * width + x)];
      const double a = static_cast<double>(x) / static_cast<double>(width);
      const double b = static_cast<double>(y) / static_cast<double>(height);
      pixel = static_cast<float>(1000 + (pixel - 1000) * (0.7 + 0.5 * a * b) +
                                 deviation * (0.8 * std::sin(3 * a) + 0.5 * b * b));
    }
  }
}

inline warpalign::HostImage view(const Pixels& pixels) {
  return {pixels.data(), warpalign::PixelType::f32, width, height, 0};
}

inline std::vector<warpalign::HostImage> views(const std::vector<Pixels>& frames) {
  std::vector<warpalign::HostImage> all;
  for (const Pixels& frame : frames) all.push_back(view(frame));
  return all;
}

}  // namespace frames
