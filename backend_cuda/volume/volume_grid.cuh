// What the kernels for volumes share: extents along the axes, and sums over the threads of a block.
#pragma once

#include "device/launch.hpp"

#include <cuda_runtime.h>

#include <array>
#include <cstdint>

namespace warpalign::cuda {

/// Integers along x, y and z.
struct Triple {
  int x, y, z;
};

[[nodiscard]] inline Triple sides_of(const Shape& shape, const CallSite& site) {
  return {extent(shape.width, site), extent(shape.height, site), extent(shape.depth, site)};
}

/// Converts numbers that fit an int.
[[nodiscard]] inline Triple triple_of(const std::array<std::int64_t, 3>& numbers) {
  return {static_cast<int>(numbers[0]), static_cast<int>(numbers[1]), static_cast<int>(numbers[2])};
}

/// Blocks whose warps process one row each at a time.
inline constexpr int row_warps = 4;
inline constexpr int row_threads = row_warps * warp_lanes;

[[nodiscard]] inline std::int64_t row_blocks(std::int64_t rows, const Context& context) {
  return std::clamp<std::int64_t>(divide_up(rows, row_warps), 1,
                                  4 * std::int64_t{context.multiprocessors});
}

// Adds up the sums of the row_threads threads of a block: sum i of block g goes to partials[i
// blocks + g], where `blocks` is the number of blocks.
template <int count>
__device__ __forceinline__ void add_up_rows(const float (&sums)[count],
                                            float* __restrict__ partials) {
  __shared__ float of_warps[count][row_warps];
  const int lane = static_cast<int>(threadIdx.x) % warp_lanes;
  const int warp = static_cast<int>(threadIdx.x) / warp_lanes;
#pragma unroll
  for (int i = 0; i < count; ++i) {
    float sum = sums[i];
#pragma unroll
    for (int half = 16; half > 0; half /= 2) sum += __shfl_down_sync(0xffffffffU, sum, half);
    if (lane == 0) of_warps[i][warp] = sum;
  }
  __syncthreads();
  const int i = static_cast<int>(threadIdx.x);
  if (i >= count) return;
  float sum = 0.0f;
#pragma unroll
  for (int w = 0; w < row_warps; ++w) sum += of_warps[i][w];
  partials[i * static_cast<int>(gridDim.x) + static_cast<int>(blockIdx.x)] = sum;
}

}  // namespace warpalign::cuda
