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

}  // namespace warpalign::opencl
