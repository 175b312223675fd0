// Images of several sizes, one behind the other in one buffer.
#pragma once

#include <warpalign/pixel.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace warpalign::backend {

/// How many pixels they have together.
[[nodiscard]] inline std::int64_t packed_pixels(std::span<const Shape> planes) noexcept {
  std::int64_t sum = 0;
  for (const Shape& plane : planes) sum += plane.plane();
  return sum;
}

/// The extents of an image that contains each of them.
[[nodiscard]] inline Shape largest_extents(std::span<const Shape> planes) noexcept {
  Shape largest{1, 1, 1};
  for (const Shape& plane : planes) {
    largest.width = std::max(largest.width, plane.width);
    largest.height = std::max(largest.height, plane.height);
  }
  return largest;
}

/// What is left of a plane of which every `step_x`-th pixel of every `step_y`-th row is taken.
[[nodiscard]] inline Shape every_step(const Shape& plane, std::int64_t step_x,
                                      std::int64_t step_y) noexcept {
  return {plane.width / step_x, plane.height / step_y, 1};
}

/// What is left of planes of which every `step_x`-th pixel of every `step_y`-th row is taken.
[[nodiscard]] inline std::vector<Shape> every_step(std::span<const Shape> planes,
                                                   std::int64_t step_x, std::int64_t step_y) {
  std::vector<Shape> taken;
  for (const Shape& plane : planes) {
    taken.push_back(every_step(plane, step_x, step_y));
  }
  return taken;
}

/// How a kernel learns where a packed plane lies: its first pixel, its width and its height, as
/// int32.
inline constexpr int packed_plane_words = 3;

}  // namespace warpalign::backend
