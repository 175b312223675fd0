// Copies the constants of a plan to device memory.
#include "device/constants.hpp"

#include "device/errors.hpp"

namespace warpalign::opencl {

Handle<cl_mem> upload_constants(const Context& context, const void* values, std::size_t bytes,
                                const char* stage) {
  Handle<cl_mem> buffer = make_buffer(context, bytes, stage);
  const CallSite site = context.call_site(stage);
  const Handle<cl_command_queue> queue = context.service_queue();
  check(clEnqueueWriteBuffer(queue.get(), buffer.get(), CL_TRUE, 0, bytes, values, 0, nullptr,
                             nullptr),
        "clEnqueueWriteBuffer", site);
  check(clFinish(queue.get()), "clFinish", site);
  return buffer;
}

Handle<cl_mem> upload_floats(const Context& context, const std::vector<float>& values,
                             const char* stage) {
  return upload_constants(context, values.data(), values.size() * sizeof(cl_float), stage);
}

}  // namespace warpalign::opencl
