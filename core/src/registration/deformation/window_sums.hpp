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

/// Replaces the values along each axis by `combine`(line, result), for lines of all pixels along
/// it.
template <class Combine>
void for_each_line(std::vector<float>& values, const Shape& shape, Combine&& combine) {
  const Sides sides = sides_of(shape);
  std::int64_t stride = 1;
  std::vector<float> line;
  std::vector<float> result;
  for (std::size_t a = 0; a < 3; ++a) {
    const std::int64_t length = sides[a];
    if (length == 1) continue;
    line.resize(static_cast<std::size_t>(length));
    result.resize(line.size());
    for (std::int64_t outer = 0; outer < shape.pixels(); outer += stride * length) {
      for (std::int64_t inner = 0; inner < stride; ++inner) {
        float* first = values.data() + outer + inner;
        for (std::int64_t k = 0; k < length; ++k) {
          line[static_cast<std::size_t>(k)] = first[k * stride];
        }
        combine(line, result);
        for (std::int64_t k = 0; k < length; ++k) {
          first[k * stride] = result[static_cast<std::size_t>(k)];
        }
      }
    }
    stride *= length;
  }
}

/// The sums of f(pixel) within the windows about all pixels.
template <class Value>
std::vector<float> window_sums(const Shape& shape, Value&& f) {
  std::vector<float> sums(static_cast<std::size_t>(shape.pixels()));
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = f(i);
  for_each_line(sums, shape, [](const std::vector<float>& line, std::vector<float>& result) {
    const auto length = static_cast<std::int64_t>(line.size());
    for (std::int64_t k = 0; k < length; ++k) {
      float sum = 0;
      for (std::int64_t i = std::max<std::int64_t>(k - window_reach, 0);
           i <= std::min(k + window_reach, length - 1); ++i) {
        sum += line[static_cast<std::size_t>(i)];
      }
      result[static_cast<std::size_t>(k)] = sum;
    }
  });
  return sums;
}

}  // namespace warpalign::detail
