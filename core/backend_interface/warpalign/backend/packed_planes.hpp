// Packed planes: images of several sizes, one after the other in one buffer.
#pragma once

#include <warpalign/pixel.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace warpalign::backend {

/// The total number of pixels.
[[nodiscard]] inline std::int64_t packed_pixels(std::span<const Shape> planes) noexcept {
  std::int64_t sum = 0;
  for (const Shape& plane : planes) sum += plane.plane();
  return sum;
}

/// The extents of the smallest image that contains each of the planes.
[[nodiscard]] inline Shape largest_extents(std::span<const Shape> planes) noexcept {
  Shape largest{1, 1, 1};
  for (const Shape& plane : planes) {
    largest.width = std::max(largest.width, plane.width);
    largest.height = std::max(largest.height, plane.height);
  }
  return largest;
}

/// The shape of a plane that is subsampled by `step_x` along x and `step_y` along y.
[[nodiscard]] inline Shape every_step(const Shape& plane, std::int64_t step_x,
                                      std::int64_t step_y) noexcept {
  return {plane.width / step_x, plane.height / step_y, 1};
}

/// The shapes of planes that are subsampled by `step_x` along x and `step_y` along y.
[[nodiscard]] inline std::vector<Shape> every_step(std::span<const Shape> planes,
                                                   std::int64_t step_x, std::int64_t step_y) {
  std::vector<Shape> taken;
  for (const Shape& plane : planes) {
    taken.push_back(every_step(plane, step_x, step_y));
  }
  return taken;
}

/// The number of int32 that describe a packed plane to a kernel: first pixel, width and height.
inline constexpr int packed_plane_words = 3;

}  // namespace warpalign::backend
