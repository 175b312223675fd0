// Sums over neighbours in shared memory whose relative addresses are known at compile time.
#pragma once

#include <cuda_runtime.h>

#include <utility>

namespace warpalign::cuda {

template <int offset>
__device__ __forceinline__ float shared_float(unsigned address) {
  float value;
  asm volatile("ld.shared.f32 %0, [%1+%2];" : "=f"(value) : "r"(address), "n"(offset));
  return value;
}

template <int degree, int row, int... column>
__device__ __forceinline__ float sum_tile_row(const float (&w)[degree + 1], unsigned address,
                                              std::integer_sequence<int, column...>) {
  float sum = 0.0f;
  ((sum = fmaf(w[column], shared_float<row + 4 * column>(address), sum)), ...);
  return sum;
}

template <int degree, int pitch, int... row>
__device__ __forceinline__ float sum_tile_plane(const float (&wx)[degree + 1],
                                                const float (&wy)[degree + 1], unsigned address,
                                                std::integer_sequence<int, row...> along) {
  float sum = 0.0f;
  ((sum = fmaf(wy[row], sum_tile_row<degree, 4 * pitch * row>(wx, address, along), sum)), ...);
  return sum;
}

}  // namespace warpalign::cuda
