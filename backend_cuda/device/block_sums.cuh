// Sums over the threads of a warp or a block, by shuffles within warps and through shared memory
// across them.
#pragma once

#include "device/launch.hpp"

#include <cuda_runtime.h>

namespace warpalign::cuda {

/// The sum over the lanes of a warp, in its first lane.
__device__ __forceinline__ float warp_sum(float value) {
#pragma unroll
  for (int half = warp_lanes / 2; half > 0; half /= 2) {
    value += __shfl_down_sync(0xffffffffU, value, half);
  }
  return value;
}

/// Adds each of `count` sums over the threads of a block of `warps` warps. Sum i of block g goes to
/// partials[i * blocks + g].
template <int warps, int count>
__device__ __forceinline__ void store_block_sums(const float (&sums)[count], int blocks,
                                                 float* __restrict__ partials) {
  static_assert(count <= warps * warp_lanes);
  __shared__ float of_warps[count][warps];
  const int thread = static_cast<int>(threadIdx.x);
#pragma unroll
  for (int i = 0; i < count; ++i) {
    const float sum = warp_sum(sums[i]);
    if (thread % warp_lanes == 0) of_warps[i][thread / warp_lanes] = sum;
  }
  __syncthreads();
  if (thread >= count) return;
  float sum = 0.0f;
#pragma unroll
  for (int w = 0; w < warps; ++w) sum += of_warps[thread][w];
  partials[thread * blocks + static_cast<int>(blockIdx.x)] = sum;
}

/// The same of all blocks of a grid.
template <int warps, int count>
__device__ __forceinline__ void store_block_sums(const float (&sums)[count],
                                                 float* __restrict__ partials) {
  store_block_sums<warps>(sums, static_cast<int>(gridDim.x), partials);
}

}  // namespace warpalign::cuda
