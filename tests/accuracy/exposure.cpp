// What happens to an image between the scene and its file: illumination, noise, dead pixels,
// frames.
#include "accuracy/exposure.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace accuracy {

namespace {

/// Multiplies by a smooth field of at most 1, with up to one wave across the image.
void apply_uneven_illumination(reference::Plane& picture, double unevenness, Random& random) {
  const double across = random.between(-1, 1);
  const double down = random.sign() * (1 - std::abs(across));
  const double phase = random.between(0, 1);
  for (std::int64_t y = 0; y < picture.height; ++y) {
    for (std::int64_t x = 0; x < picture.width; ++x) {
      const double wave = phase +
                          across * static_cast<double>(x) / static_cast<double>(picture.width) +
                          down * static_cast<double>(y) / static_cast<double>(picture.height);
      picture.at(x, y) *= std::exp(unevenness * (std::cos(2 * std::numbers::pi * wave) - 1));
    }
  }
}

void cover_outside(reference::Plane& picture, const Frame& frame) {
  const double angle = frame.turn_deg * std::numbers::pi / 180;
  const double c = std::cos(angle);
  const double s = std::sin(angle);
  const double half_width = static_cast<double>(picture.width - 1) / 2;
  const double half_height = static_cast<double>(picture.height - 1) / 2;
  const double inside = 1 - 2 * frame.inset;
  for (std::int64_t y = 0; y < picture.height; ++y) {
    for (std::int64_t x = 0; x < picture.width; ++x) {
      const double dx = static_cast<double>(x) - half_width;
      const double dy = static_cast<double>(y) - half_height;
      if (std::abs(c * dx - s * dy) > inside * half_width ||
          std::abs(s * dx + c * dy) > inside * half_height) {
        picture.at(x, y) = frame.level;
      }
    }
  }
}

}  // namespace

std::vector<std::uint8_t> expose(const reference::Plane& picture, const Exposure& exposure,
                                 Random& random) {
  reference::Plane levels = picture;
  for (double& level : levels.values) {
    level = 255 * std::pow(std::clamp(level / 255, 0.0, 1.0), exposure.gamma);
  }
  if (exposure.unevenness > 0) apply_uneven_illumination(levels, exposure.unevenness, random);
  for (double& level : levels.values) {
    level = 128 + exposure.contrast * (level - 128) + exposure.noise * random.normal();
    if (exposure.impulses > 0 && random.between(0, 1) < exposure.impulses) {
      level = random.sign() > 0 ? 255 : 0;
    }
  }
  if (exposure.frame.present) cover_outside(levels, exposure.frame);
  std::vector<std::uint8_t> pixels;
  pixels.reserve(levels.values.size());
  for (const double level : levels.values) {
    pixels.push_back(static_cast<std::uint8_t>(std::lround(std::clamp(level, 0.0, 255.0))));
  }
  return pixels;
}

}  // namespace accuracy
