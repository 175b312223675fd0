// Fixed-point coordinates in kernels.
#pragma once

#include "spline/fixed_point.hpp"

#include <cuda_runtime.h>

namespace warpalign::cuda {

__device__ __forceinline__ long long fixed_of(double coordinate) {
  return __double2ll_rn(coordinate * fixed_one);
}

/// The two words of a coordinate, split without the shift and mask that the compiler would emit.
struct FixedParts {
  int whole;
  unsigned rest;

  __device__ __forceinline__ explicit FixedParts(long long coordinate) {
    asm("mov.b64 {%0, %1}, %2;" : "=r"(rest), "=r"(whole) : "l"(coordinate));
  }
  __device__ __forceinline__ float fraction() const {
    return static_cast<float>(rest) * static_cast<float>(1 / fixed_one);
  }
};

}  // namespace warpalign::cuda
