// The sides of an image or volume, as an array over the axes.
#pragma once

#include <warpalign/pixel.hpp>

#include <array>
#include <cstdint>

namespace warpalign::detail {

using Sides = std::array<std::int64_t, 3>;

[[nodiscard]] inline Sides sides_of(const Shape& shape) {
  return {shape.width, shape.height, shape.depth};
}

}  // namespace warpalign::detail
