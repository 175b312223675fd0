// The pixels of an image in host memory.
#pragma once

#include <warpalign/geometry.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace warpalign::detail {

/// Row-major pixels. `weights` is empty, or holds 0 for each pixel that is ignored.
struct PixelPlane {
  Shape shape;
  std::span<const float> values;
  std::span<const float> weights;

  [[nodiscard]] std::size_t index(std::int64_t x, std::int64_t y) const {
    return static_cast<std::size_t>(y * shape.width + x);
  }
  [[nodiscard]] double operator()(std::int64_t x, std::int64_t y) const {
    return static_cast<double>(values[index(x, y)]);
  }
  [[nodiscard]] bool counts(std::int64_t x, std::int64_t y) const {
    return weights.empty() || weights[index(x, y)] > 0;
  }
  [[nodiscard]] bool contains(std::int64_t x, std::int64_t y) const {
    return x >= 0 && y >= 0 && x < shape.width && y < shape.height;
  }
};

}  // namespace warpalign::detail
