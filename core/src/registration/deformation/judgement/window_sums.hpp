// Sums within the windows, 5 pixels wide, by which images are compared locally.
#pragma once

#include "registration/deformation/sides.hpp"

#include <warpalign/pixel.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace warpalign::detail {

constexpr std::int64_t window_reach = 2;  // pixels on both sides

/// The pixels of a window that lies within the image.
[[nodiscard]] inline std::int64_t largest_window(const Shape& shape) {
  constexpr std::int64_t side = 2 * window_reach + 1;
  return side * side * (shape.depth > 1 ? side : 1);
}

/// What lies beyond the border of an image, for combine_neighbours().
enum class Beyond { neutral, nearest };

/// Along each axis in turn, replaces every value by a combination of its neighbours up to `reach`
/// away. Results begin as `neutral`; then `add(offset, from, to, count)` adds the neighbours at
/// each offset from -reach on to `count` results at once, which lie side by side in memory.
template <class Add>
void combine_neighbours(std::vector<float>& values, const Shape& shape, std::int64_t reach,
                        float neutral, Beyond beyond, const Add& add) {
  const Sides sides = sides_of(shape);
  std::vector<float> result(values.size());
  std::vector<float> row(static_cast<std::size_t>(shape.width + 2 * reach), neutral);
  const auto along_row = [&](const float* from, float* to) {
    std::copy_n(from, shape.width, row.begin() + reach);
    if (beyond == Beyond::nearest) {
      std::fill_n(row.begin(), reach, from[0]);
      std::fill_n(row.end() - reach, reach, from[shape.width - 1]);
    }
    for (std::int64_t i = -reach; i <= reach; ++i) add(i, row.data() + reach + i, to, shape.width);
  };
  const auto across_rows = [&](const float* from, float* to, std::int64_t length,
                               std::int64_t stride) {
    for (std::int64_t k = 0; k < length; ++k) {
      for (std::int64_t i = -reach; i <= reach; ++i) {
        const std::int64_t other = std::clamp<std::int64_t>(k + i, 0, length - 1);
        if (other != k + i && beyond == Beyond::neutral) continue;
        add(i, from + other * stride, to + k * stride, stride);
      }
    }
  };
  std::int64_t stride = 1;
  for (std::size_t a = 0; a < 3; stride *= sides[a++]) {
    const std::int64_t length = sides[a];
    if (length == 1) continue;
    std::ranges::fill(result, neutral);
    for (std::int64_t first = 0; first < shape.pixels(); first += stride * length) {
      if (a == 0) {
        along_row(values.data() + first, result.data() + first);
      } else {
        across_rows(values.data() + first, result.data() + first, length, stride);
      }
    }
    values.swap(result);
  }
}

/// The sums of f(pixel) within the windows about all pixels.
template <class Value>
std::vector<float> window_sums(const Shape& shape, Value&& f) {
  std::vector<float> sums(static_cast<std::size_t>(shape.pixels()));
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = f(i);
  combine_neighbours(sums, shape, window_reach, 0, Beyond::neutral,
                     [](std::int64_t /*offset*/, const float* from, float* to, std::int64_t count) {
                       for (std::int64_t k = 0; k < count; ++k) to[k] += from[k];
                     });
  return sums;
}

}  // namespace warpalign::detail
