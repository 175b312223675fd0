// The neighbours of samples in an array.
#pragma once

#include <warpalign/pixel.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace warpalign::detail {

/// The axes of an array: its extent, and the distance between neighbours.
struct ArrayAxes {
  std::array<std::int64_t, 3> extent;
  std::array<std::int64_t, 3> stride;

  explicit ArrayAxes(const Shape& shape)
      : extent{shape.width, shape.height, shape.depth}, stride{1, shape.width, shape.plane()} {}

  [[nodiscard]] std::int64_t along(std::int64_t position, std::size_t axis) const {
    return position / stride[axis] % extent[axis];
  }

  /// Calls visit(position of the neighbour) for up to six neighbours.
  template <typename Visit>
  void for_neighbours(std::int64_t position, Visit&& visit) const {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      if (extent[axis] == 1) continue;
      const std::int64_t i = along(position, axis);
      if (i > 0) visit(position - stride[axis]);
      if (i + 1 < extent[axis]) visit(position + stride[axis]);
    }
  }
};

}  // namespace warpalign::detail
