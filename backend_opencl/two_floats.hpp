// Doubles as sums of two floats: how a transform reaches kernels (formulas/affine.h).
#pragma once

#include <CL/cl.h>

#include <array>

namespace warpalign::opencl {

/// Four numbers rounded to float, and what the rounding lost.
struct TwoFloats {
  cl_float4 nearest{};
  cl_float4 rest{};
};

/// The one place where double transforms become floats. Numbers beyond 1e28 count as 1e28, so that
/// nothing that is made of them overflows on its way.
[[nodiscard]] TwoFloats to_two_floats(const std::array<double, 4>& values);

}  // namespace warpalign::opencl
