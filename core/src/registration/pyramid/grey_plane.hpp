// A single-channel image in host memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace warpalign::detail {

struct GreyPlane {
  std::int64_t width = 0, height = 0;
  std::vector<float> values;  ///< row-major

  GreyPlane() = default;
  GreyPlane(std::int64_t columns, std::int64_t rows)
      : width(columns), height(rows), values(static_cast<std::size_t>(columns * rows)) {}

  [[nodiscard]] const float* row(std::int64_t y) const { return values.data() + y * width; }
  [[nodiscard]] float* row(std::int64_t y) { return values.data() + y * width; }
  [[nodiscard]] float at(std::int64_t x, std::int64_t y) const { return row(y)[x]; }

  /// Interpolates bilinearly. Positions beyond the edges get the value of the nearest edge pixel.
  [[nodiscard]] float between(double x, double y) const {
    x = std::clamp(x, 0.0, static_cast<double>(width - 1));
    y = std::clamp(y, 0.0, static_cast<double>(height - 1));
    const auto left = std::min(static_cast<std::int64_t>(x), std::max<std::int64_t>(width - 2, 0));
    const auto top = std::min(static_cast<std::int64_t>(y), std::max<std::int64_t>(height - 2, 0));
    const std::int64_t right = std::min(left + 1, width - 1);
    const float u = static_cast<float>(x) - static_cast<float>(left);
    const float v = static_cast<float>(y) - static_cast<float>(top);
    const float* above = row(top);
    const float* below = row(std::min(top + 1, height - 1));
    const float upper = above[left] + u * (above[right] - above[left]);
    const float lower = below[left] + u * (below[right] - below[left]);
    return upper + v * (lower - upper);
  }
};

}  // namespace warpalign::detail
