// Copies the weights of a separable stage to the device.
#include "filter/axis_tables.hpp"

#include "device/errors.hpp"

namespace warpalign::opencl {

namespace {

Handle<cl_mem> upload(Context& context, const void* values, std::size_t bytes, const char* stage) {
  Handle<cl_mem> buffer = make_buffer(context, bytes, stage);
  const Handle<cl_command_queue> queue = context.service_queue();
  check(clEnqueueWriteBuffer(queue.get(), buffer.get(), CL_TRUE, 0, bytes, values, 0, nullptr,
                             nullptr),
        "clEnqueueWriteBuffer", context.call_site(stage));
  return buffer;
}

}  // namespace

AxisTable::AxisTable(Context& context, const backend::AxisWeights& axis, const char* stage)
    : taps(axis.taps),
      first(upload(context, axis.first.data(), axis.first.size() * sizeof(cl_int), stage)),
      weights(upload_floats(context, axis.weights, stage)) {}

Handle<cl_mem> upload_floats(Context& context, const std::vector<float>& values,
                             const char* stage) {
  return upload(context, values.data(), values.size() * sizeof(cl_float), stage);
}

}  // namespace warpalign::opencl
