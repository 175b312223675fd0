// Copies the weights of a separable stage to the device.
#include "filter/axis_tables.hpp"

#include "device/constants.hpp"

namespace warpalign::opencl {

AxisTable::AxisTable(Context& context, const backend::AxisWeights& axis, const char* stage)
    : taps(axis.taps),
      first(
          upload_constants(context, axis.first.data(), axis.first.size() * sizeof(cl_int), stage)),
      weights(upload_floats(context, axis.weights, stage)) {}

}  // namespace warpalign::opencl
