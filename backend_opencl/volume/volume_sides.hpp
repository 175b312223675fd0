// Shapes and places in volumes as kernels take them.
#pragma once

#include "device/stage.hpp"

#include <array>

namespace warpalign::opencl {

/// (width, height, depth, 0).
[[nodiscard]] inline cl_int4 sides_of(const Shape& shape, const Place& place) {
  return {{to_int(shape.width, place), to_int(shape.height, place), to_int(shape.depth, place), 0}};
}

/// (x, y, z, 0), which fit an int.
[[nodiscard]] inline cl_int4 to_int4(const std::array<std::int64_t, 3>& place) {
  return {{static_cast<cl_int>(place[0]), static_cast<cl_int>(place[1]),
           static_cast<cl_int>(place[2]), 0}};
}

}  // namespace warpalign::opencl
