// Grids of the kernels that use lib/sample_location_simd.h, on CPUs with vectors.
#pragma once

#include <CL/cl.h>

#include <algorithm>
#include <cstdint>

namespace warpalign::opencl {

/// The pixels of a row whose sample locations are computed together.
inline constexpr std::int64_t place_segment = 128;  // SEGMENT in lib/sample_location_simd.h

/// The rows of a tile of such segments: few enough to have tiles for all cores, and enough to make
/// up for the preparation of each tile.
[[nodiscard]] inline cl_int place_tile_rows(std::int64_t rows) {
  return static_cast<cl_int>(std::clamp<std::int64_t>(rows / 32, 4, 32));
}

}  // namespace warpalign::opencl
