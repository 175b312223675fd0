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

/// Adds each of `count` sums over the threads of a block of `warps` warps, and calls put(i, sum)
/// for sum i in one thread each. All threads must meet a barrier before the next call.
template <int warps, int count, class Put>
__device__ __forceinline__ void add_over_block(const float (&sums)[count], const Put& put) {
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
  put(thread, sum);
}

/// Stores the sums of the block: sum i of block g at partials[i * blocks + g]. A kernel may call
/// this once.
template <int warps, int count>
__device__ __forceinline__ void store_block_sums(const float (&sums)[count], int blocks,
                                                 float* __restrict__ partials) {
  add_over_block<warps>(
      sums, [&](int i, float sum) { partials[i * blocks + static_cast<int>(blockIdx.x)] = sum; });
}

/// Stores the sums of the block for a grid whose blocks along x all take part.
template <int warps, int count>
__device__ __forceinline__ void store_block_sums(const float (&sums)[count],
                                                 float* __restrict__ partials) {
  store_block_sums<warps>(sums, static_cast<int>(gridDim.x), partials);
}

}  // namespace warpalign::cuda
