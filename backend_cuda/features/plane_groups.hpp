// Blocks over images of several sizes, one behind the other in one buffer.
#pragma once

#include <warpalign/pixel.hpp>

#include <cuda_runtime_api.h>

#include <span>

namespace warpalign::cuda {

/// The size of a block, which is a rectangle of pixels.
inline constexpr int plane_columns = 32, plane_rows = 8;

/// Row y of blocks covers plane y, one row of rectangles after the other. `rows`: of a rectangle.
[[nodiscard]] dim3 blocks_over(std::span<const Shape> planes, int rows = plane_rows);

}  // namespace warpalign::cuda
