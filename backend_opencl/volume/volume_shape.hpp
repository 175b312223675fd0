// Shapes of volumes and positions in them, in the form that kernels take.
#pragma once

#include "device/stage.hpp"

#include <array>

namespace warpalign::opencl {

/// (width, height, depth, 0).
[[nodiscard]] inline cl_int4 to_int4(const Shape& shape, const CallSite& site) {
  return {{extent(shape.width, site), extent(shape.height, site), extent(shape.depth, site), 0}};
}

/// (x, y, z, 0); each value must fit an int.
[[nodiscard]] inline cl_int4 to_int4(const std::array<std::int64_t, 3>& v) {
  return {{static_cast<cl_int>(v[0]), static_cast<cl_int>(v[1]), static_cast<cl_int>(v[2]), 0}};
}

}  // namespace warpalign::opencl
