// The self-test of registration: a pair with a known transform, drawn without resampling.
#include "doctor/self_tests.hpp"

#include <warpalign/geometry.hpp>
#include <warpalign/registrar.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>

namespace warpalign::program::doctor {
namespace {

constexpr std::int64_t side = 256;

struct Spot {
  Point centre;
  double radius;
  double height;
};

/// Draws spots of several sizes over an area that exceeds both images.
std::vector<Spot> scene() {
  constexpr int count = 1500;
  std::mt19937 random(20);  // the C++ standard defines its sequence, so the scene is fixed
  const auto number = [&](double from, double to) {
    return from + (to - from) * static_cast<double>(random()) / 4294967296.0;
  };
  std::vector<Spot> spots;
  for (int i = 0; i < count; ++i) {
    const double x = number(-0.3 * side, 1.3 * side);
    const double y = number(-0.3 * side, 1.3 * side);
    spots.push_back({{x, y}, number(1.5, 8), number(-50, 50)});
  }
  return spots;
}

/// Draws the scene under a similarity of this scale from scene to image coordinates.
std::vector<std::uint8_t> draw(const std::vector<Spot>& spots, const Affine& to_image,
                               double scale) {
  std::vector<double> levels(static_cast<std::size_t>(side * side), 128.0);
  for (const Spot& spot : spots) {
    const Point centre = to_image(spot.centre);
    const double radius = scale * spot.radius;
    const auto from = [&](double at) {
      return std::max<std::int64_t>(0, static_cast<std::int64_t>(std::ceil(at - 4 * radius)));
    };
    const auto to = [&](double at) {
      return std::min<std::int64_t>(side - 1, static_cast<std::int64_t>(at + 4 * radius));
    };
    for (std::int64_t y = from(centre.y); y <= to(centre.y); ++y) {
      for (std::int64_t x = from(centre.x); x <= to(centre.x); ++x) {
        const double dx = (static_cast<double>(x) - centre.x) / radius;
        const double dy = (static_cast<double>(y) - centre.y) / radius;
        levels[static_cast<std::size_t>(y * side + x)] +=
            spot.height * std::exp(-(dx * dx + dy * dy) / 2);
      }
    }
  }
  std::vector<std::uint8_t> pixels;
  for (const double level : levels) {
    pixels.push_back(static_cast<std::uint8_t>(std::lround(std::clamp(level, 0.0, 255.0))));
  }
  return pixels;
}

double largest_distance(const Affine& found, const Affine& truth) {
  double largest = 0;
  for (const double x : {0.0, side - 1.0}) {
    for (const double y : {0.0, side - 1.0}) {
      const Point a = found({x, y});
      const Point b = truth({x, y});
      largest = std::max(largest, std::hypot(a.x - b.x, a.y - b.y));
    }
  }
  return largest;
}

}  // namespace

Finding test_registration(const Device& device) {
  const Shape shape{side, side, 1};
  const Similarity motion{12, 1.1, {7.5, -4.25}};
  const Affine truth = motion.matrix(shape, shape);
  const std::vector<Spot> spots = scene();
  const auto reference = draw(spots, {}, 1);
  const auto moving = draw(spots, truth, motion.scale);
  const RegistrationResult result =
      register_images(device, {reference.data(), PixelType::u8, side, side},
                      {moving.data(), PixelType::u8, side, side});
  if (!result.reliable) {
    return {false,
            fmt::format("the pair was not registered (confidence {:.2f})", result.confidence)};
  }
  // Rounding to 8 bits causes errors of hundredths of a pixel at the corners.
  return within(largest_distance(result.matrix, truth), 0.05, " pixels");
}

}  // namespace warpalign::program::doctor
