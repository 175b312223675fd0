// The weights of a separable stage, on the device.
#pragma once

#include "device/memory.hpp"

#include <warpalign/backend/stages/filter/axis_weights.hpp>

namespace warpalign::opencl {

/// The backend::AxisWeights of one axis, in the form that kernels take.
struct AxisTable {
  AxisTable(Context& context, const backend::AxisWeights& axis, const char* stage);

  cl_int taps;
  Handle<cl_mem> first, weights;
};

/// A copy of constants in device memory.
[[nodiscard]] Handle<cl_mem> upload_floats(Context& context, const std::vector<float>& values,
                                           const char* stage);

}  // namespace warpalign::opencl
