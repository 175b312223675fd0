// What is left of two images of one shape after a motion was undone, in host memory.
#pragma once

#include "registration/numerics/plane_geometry.hpp"
#include "registration/patterns/fixed_pattern.hpp"

#include <warpalign/geometry.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace warpalign::detail {

/// The four pixels about a point of an image, and its position among them.
struct ImageCell {
  std::size_t first;  ///< index of the upper left pixel
  float u, v;

  /// The value at the point, interpolated bilinearly.
  [[nodiscard]] float sample(std::span<const float> image, std::int64_t width) const {
    const float* above = image.data() + first;
    const float* below = above + width;
    const float upper = above[0] + u * (above[1] - above[0]);
    const float lower = below[0] + u * (below[1] - below[0]);
    return upper + v * (lower - upper);
  }
};

/// The cell to which a pixel maps. Nothing outside the image.
[[nodiscard]] inline std::optional<ImageCell> cell_at(const Homography& map, std::int64_t x,
                                                      std::int64_t y, std::int64_t width,
                                                      std::int64_t height) {
  const LocalMap here(map, {static_cast<double>(x), static_cast<double>(y)});
  const Point at = here.place;
  if (!(here.w * map.h[8] > 0 && at.x >= 0 && at.y >= 0 && at.x < static_cast<double>(width - 1) &&
        at.y < static_cast<double>(height - 1))) {
    return std::nullopt;
  }
  const auto left = static_cast<std::int64_t>(at.x);
  const auto top = static_cast<std::int64_t>(at.y);
  return ImageCell{static_cast<std::size_t>(top * width + left),
                   static_cast<float>(at.x - static_cast<double>(left)),
                   static_cast<float>(at.y - static_cast<double>(top))};
}

/// moving(T x) - gain * reference(x). Reuses its memory between calls.
struct AlignedResidual {
  /// `motion`: T, reference -> moving pixels.
  void take(const SensorImages& images, const Homography& motion, float gain);

  std::int64_t width = 0, height = 0;
  std::vector<float> values;  ///< 0 where nothing is known
  std::vector<float> known;   ///< 1 where both images are, with full weights; else 0
};

}  // namespace warpalign::detail
