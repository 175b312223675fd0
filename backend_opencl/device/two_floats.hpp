// Doubles as sums of two floats, the form in which kernels take a transform (formulas/affine.h).
#pragma once

#include <CL/cl.h>

#include <array>

namespace warpalign::opencl {

/// Four numbers rounded to float, and their rounding errors.
struct TwoFloats {
  cl_float4 nearest{};
  cl_float4 rest{};
};

/// Converts a row of a transform from double precision; no other function does this. A row with
/// numbers beyond 1e28 is scaled down to that, so that nothing computed from it overflows: a far
/// point stays far, on the same side.
[[nodiscard]] TwoFloats to_two_floats(const std::array<double, 4>& values);

}  // namespace warpalign::opencl
