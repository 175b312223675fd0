// Counts references to OpenCL's objects.
#include "device/handles.hpp"

#include <warpalign/backend/fork.hpp>

namespace warpalign::opencl {

namespace {

/// OpenCL counts references to sub-devices only. OpenCL 1.1 has neither sub-devices nor the
/// functions that count references to them.
bool is_part(cl_device_id device) {
  cl_device_id whole = nullptr;
  return clGetDeviceInfo(device, CL_DEVICE_PARENT_DEVICE, sizeof whole, &whole, nullptr) ==
             CL_SUCCESS &&
         whole != nullptr;
}

}  // namespace

void retain(cl_command_queue queue) noexcept { clRetainCommandQueue(queue); }
void retain(cl_context context) noexcept { clRetainContext(context); }
void retain(cl_device_id device) noexcept {
  if (is_part(device)) clRetainDevice(device);
}
void retain(cl_event event) noexcept { clRetainEvent(event); }
void retain(cl_kernel kernel) noexcept { clRetainKernel(kernel); }
void retain(cl_mem memory) noexcept { clRetainMemObject(memory); }
void retain(cl_program program) noexcept { clRetainProgram(program); }

void release(cl_command_queue queue) noexcept {
  if (!backend::is_forked()) clReleaseCommandQueue(queue);
}
void release(cl_context context) noexcept {
  if (!backend::is_forked()) clReleaseContext(context);
}
void release(cl_device_id device) noexcept {
  if (!backend::is_forked() && is_part(device)) clReleaseDevice(device);
}
void release(cl_event event) noexcept {
  if (!backend::is_forked()) clReleaseEvent(event);
}
void release(cl_kernel kernel) noexcept {
  if (!backend::is_forked()) clReleaseKernel(kernel);
}
void release(cl_mem memory) noexcept {
  if (!backend::is_forked()) clReleaseMemObject(memory);
}
void release(cl_program program) noexcept {
  if (!backend::is_forked()) clReleaseProgram(program);
}
void release(cl_sampler sampler) noexcept {
  if (!backend::is_forked()) clReleaseSampler(sampler);
}

}  // namespace warpalign::opencl
