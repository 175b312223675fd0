// OpenCL programs: warpalign on the program's own cl_context, cl_command_queue and cl_mem.
//
// A cl_mem belongs to a cl_context, and so does a queue. So the device is opened within the
// program's context first; memory and queues of that context are then wrapped:
//
//   const auto device = warpalign::opencl::open_device(context, id);
//   auto stream = warpalign::opencl::wrap_stream(device, queue);
//   auto image = warpalign::opencl::wrap_image(device, memory, warpalign::PixelType::f32, {640,
//   480});
//
// OpenCL objects are retained as long as the objects over them. Program and warpalign must use the
// same OpenCL loader (libOpenCL). All functions throw Error as those of warpalign/interop.hpp do.
#pragma once

#include <warpalign/interop.hpp>
#include <warpalign/open_device.hpp>

#if defined(__APPLE__)
#include <OpenCL/cl.h>
#else
#include <CL/cl.h>
#endif

#include <memory>
#include <utility>

namespace warpalign::opencl {

/// How memory is taken; see interop::ForeignMemory.
struct WrapOptions {
  std::size_t offset_bytes = 0;   ///< a multiple of what CL_DEVICE_MEM_BASE_ADDR_ALIGN says
  bool read_only = false;         ///< needed for memory that was made with CL_MEM_READ_ONLY
  std::shared_ptr<void> owner{};  ///< of what the cl_mem itself does not keep alive
};

/// Opens a device within a context of the program's. Without a configuration it is the user's, as
/// default_config() reads it.
[[nodiscard]] inline Device open_device(cl_context context, cl_device_id device,
                                        const Config& config) {
  return interop::open_within("opencl", context, device, config);
}
[[nodiscard]] inline Device open_device(cl_context context, cl_device_id device) {
  return open_device(context, device, default_config());
}

/// Memory of the program's, of `bytes` bytes or more. It is retained as long as the buffer.
[[nodiscard]] inline Buffer wrap_buffer(const Device& device, cl_mem memory, std::size_t bytes,
                                        const WrapOptions& options = {}) {
  return interop::wrap_buffer(
      device, "opencl", {memory, options.offset_bytes, options.read_only, options.owner}, bytes);
}
/// Dense, row-major pixels.
[[nodiscard]] inline Image wrap_image(const Device& device, cl_mem memory, PixelType type,
                                      const Shape& shape, const WrapOptions& options = {}) {
  return interop::wrap_image(device, "opencl",
                             {memory, options.offset_bytes, options.read_only, options.owner}, type,
                             shape);
}
/// The queue must be in order. The stream can take marks if the queue has profiling enabled.
[[nodiscard]] inline Stream wrap_stream(const Device& device, cl_command_queue queue,
                                        std::shared_ptr<void> owner = {}) {
  return interop::wrap_stream(device, "opencl", queue, std::move(owner));
}
/// An event of the program's, whose queue the program has flushed.
[[nodiscard]] inline Event wrap_event(const Device& device, cl_event event) {
  return interop::wrap_event(device, "opencl", event);
}

// Handles of warpalign's objects, not retained for the caller.

/// For memory wrapped with an offset, the sub-buffer that was made of it.
[[nodiscard]] inline cl_mem memory_of(const Buffer& buffer) {
  return static_cast<cl_mem>(interop::handle_of(buffer, "opencl"));
}
[[nodiscard]] inline cl_mem memory_of(const Image& image) { return memory_of(image.buffer()); }
/// The queue that the work goes to.
[[nodiscard]] inline cl_command_queue queue_of(const Stream& stream) {
  return static_cast<cl_command_queue>(interop::handle_of(stream, "opencl"));
}
/// Null before the event is recorded. Recording it again makes another one.
[[nodiscard]] inline cl_event event_of(const Event& event) {
  return static_cast<cl_event>(interop::handle_of(event, "opencl"));
}
/// The context that the device was opened in.
[[nodiscard]] inline cl_context context_of(const Device& device) {
  return static_cast<cl_context>(interop::context_of(device, "opencl"));
}
/// OpenCL's own name of the device.
[[nodiscard]] inline cl_device_id device_id_of(const Device& device) {
  return static_cast<cl_device_id>(interop::device_handle_of(device, "opencl"));
}

}  // namespace warpalign::opencl
