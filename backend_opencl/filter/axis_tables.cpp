// The weights of a separable stage, on the device.
#include "filter/axis_tables.hpp"

#include "device/errors.hpp"

namespace warpalign::opencl {

namespace {

compute::buffer upload(OpenedDevice& device, const void* values, std::size_t bytes,
                       const char* stage) {
  compute::buffer buffer = make_buffer(device, bytes, stage);
  const compute::command_queue queue = device.make_service_queue();
  check(clEnqueueWriteBuffer(queue.get(), buffer.get(), CL_TRUE, 0, bytes, values, 0, nullptr,
                             nullptr),
        "clEnqueueWriteBuffer", device.place(stage));
  return buffer;
}

}  // namespace

AxisTable::AxisTable(OpenedDevice& device, const backend::AxisWeights& axis, const char* stage)
    : taps(axis.taps),
      first(upload(device, axis.first.data(), axis.first.size() * sizeof(cl_int), stage)),
      weights(upload_floats(device, axis.weights, stage)) {}

compute::buffer upload_floats(OpenedDevice& device, const std::vector<float>& values,
                              const char* stage) {
  return upload(device, values.data(), values.size() * sizeof(cl_float), stage);
}

}  // namespace warpalign::opencl
