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

/// The only place where a row of a transform in double precision becomes floats. A row with numbers
/// beyond 1e28 is scaled down to that, so that nothing computed from it overflows: a point that is
/// far away stays far away, on the same side.
[[nodiscard]] TwoFloats to_two_floats(const std::array<double, 4>& values);

}  // namespace warpalign::opencl
