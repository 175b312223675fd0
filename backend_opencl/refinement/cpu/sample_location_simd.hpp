// Grids of the kernels that use lib/sample_location_simd.h, on CPUs with vectors.
#pragma once

#include "lib/launch.h"

#include <CL/cl.h>

#include <algorithm>
#include <cstdint>

namespace warpalign::opencl {

/// The number of pixels of a row whose sample locations are computed together.
inline constexpr std::int64_t row_segment = WA_ROW_SEGMENT;

/// The rows of a tile of such segments: few enough to have tiles for all cores, and enough to make
/// up for the setup of each tile.
[[nodiscard]] inline cl_int tile_rows_for(std::int64_t rows) {
  return static_cast<cl_int>(std::clamp<std::int64_t>(rows / 32, 4, 32));
}

}  // namespace warpalign::opencl
