// Frames of a scene with known drift.
#include "bench/drifting_frames.hpp"

#include <cmath>
#include <cstddef>
#include <memory>
#include <vector>

namespace warpalign::program::bench {
namespace {

constexpr std::int64_t margin = 32;  // of the scene, in its pixels

/// The shift of frame i in half pixels.
std::int64_t offset(std::size_t i, std::size_t step) {
  return static_cast<std::int64_t>(i * step % (2 * margin)) - margin;
}

}  // namespace

Pixels drifting_frames(std::int64_t side, std::size_t count) {
  const std::int64_t scene_side = 2 * (side + margin);
  const Pixels whole = scene(scene_side);
  const auto* values = values_of<float>(whole);
  auto bytes = std::make_shared<std::vector<std::byte>>(
      count * static_cast<std::size_t>(side * side) * sizeof(std::uint16_t));
  auto* target = reinterpret_cast<std::uint16_t*>(bytes->data());
  for (std::size_t i = 0; i < count; ++i) {
    const float* corner = values + (margin - offset(i, 7)) * scene_side + (margin - offset(i, 5));
    for (std::int64_t y = 0; y < side; ++y) {
      for (std::int64_t x = 0; x < side; ++x) {
        const float* p = corner + 2 * y * scene_side + 2 * x;
        const float sum = p[0] + p[1] + p[scene_side] + p[scene_side + 1];
        *target++ = static_cast<std::uint16_t>(std::lround(64 * sum));
      }
    }
  }
  return bytes;
}

Pixels rotating_frames(std::int64_t side, std::size_t count) {
  const auto pixels = static_cast<std::size_t>(side * side);
  auto bytes = std::make_shared<std::vector<std::byte>>(count * pixels * sizeof(std::uint16_t));
  auto* target = reinterpret_cast<std::uint16_t*>(bytes->data());
  for (std::size_t i = 0; i < count; ++i) {
    const Pixels frame = scene(side, turn_of(side, i).inverse());
    const auto* values = values_of<float>(frame);
    for (std::size_t k = 0; k < pixels; ++k) {
      *target++ = static_cast<std::uint16_t>(std::lround(256 * values[k]));
    }
  }
  return bytes;
}

Affine turn_of(std::int64_t side, std::size_t frame) {
  const Shape shape{side, side, 1};
  const auto i = static_cast<double>(frame);
  const double reach = static_cast<double>(side) / 40;
  return Similarity{6 * std::sin(0.9 * i),
                    1 + 0.02 * std::sin(1.7 * i),
                    {reach * std::sin(0.5 * i), reach * std::sin(0.3 * i)}}
      .matrix(shape, shape);
}

Point drift_of(std::size_t frame) {
  return {static_cast<double>(offset(frame, 5) - offset(0, 5)) / 2,
          static_cast<double>(offset(frame, 7) - offset(0, 7)) / 2};
}

}  // namespace warpalign::program::bench
