// Grids of kernels by formulas/opencl_place_lanes.h: on CPUs with vectors.
#pragma once

#include <CL/cl.h>

#include <algorithm>
#include <cstdint>

namespace warpalign::opencl {

/// Pixels of a row that are placed together.
inline constexpr std::int64_t place_segment = 128;  // SEGMENT

/// Rows of a tile of such segments: enough tiles for all cores, and enough rows for what a tile
/// begins with.
[[nodiscard]] inline cl_int place_tile_rows(std::int64_t rows) {
  return static_cast<cl_int>(std::clamp<std::int64_t>(rows / 32, 4, 32));
}

}  // namespace warpalign::opencl
