// Interoperation with OpenCL: warpalign on the program's own cl_context, cl_command_queue and
// cl_mem.
//
// Memory and queues belong to a cl_context. So first open the device in the context of the program,
// then wrap memory and queues of that context:
//
//   const auto device = warpalign::opencl::open_device(context, id);
//   auto stream = warpalign::opencl::wrap_stream(device, queue);
//   auto image = warpalign::opencl::wrap_image(device, memory, warpalign::PixelType::f32, {640,
//   480});
//
// The wrapping objects retain the OpenCL objects. The program and warpalign must use the same
// OpenCL loader (libOpenCL). The functions throw Error as those of warpalign/interop.hpp do.
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

/// How to wrap memory; see interop::UnownedMemory.
struct WrapOptions {
  std::size_t offset_bytes = 0;   ///< a multiple of the device's CL_DEVICE_MEM_BASE_ADDR_ALIGN
  bool read_only = false;         ///< required for memory created with CL_MEM_READ_ONLY
  std::shared_ptr<void> owner{};  ///< keeps alive what the cl_mem itself does not
};

/// Opens a device in a context of the program. Without a configuration, uses default_config().
[[nodiscard]] inline Device open_device(cl_context context, cl_device_id device,
                                        const Config& config) {
  return interop::open_in_context("opencl", context, device, config);
}
[[nodiscard]] inline Device open_device(cl_context context, cl_device_id device) {
  return open_device(context, device, default_config());
}

/// Wraps memory of the program, of `bytes` bytes or more. The buffer retains the cl_mem.
[[nodiscard]] inline Buffer wrap_buffer(const Device& device, cl_mem memory, std::size_t bytes,
                                        const WrapOptions& options = {}) {
  return interop::wrap_buffer(
      device, "opencl", {memory, options.offset_bytes, options.read_only, options.owner}, bytes);
}
/// Wraps memory that contains dense, row-major pixels.
[[nodiscard]] inline Image wrap_image(const Device& device, cl_mem memory, PixelType type,
                                      const Shape& shape, const WrapOptions& options = {}) {
  return interop::wrap_image(device, "opencl",
                             {memory, options.offset_bytes, options.read_only, options.owner}, type,
                             shape);
}
/// Wraps a queue, which must be in order. The stream is timed if the queue has profiling enabled.
[[nodiscard]] inline Stream wrap_stream(const Device& device, cl_command_queue queue,
                                        std::shared_ptr<void> owner = {}) {
  return interop::wrap_stream(device, "opencl", queue, std::move(owner));
}
/// Wraps an event of the program. The program must have flushed the queue of the event.
[[nodiscard]] inline Event wrap_event(const Device& device, cl_event event) {
  return interop::wrap_event(device, "opencl", event);
}

// Handles of warpalign's objects. These functions do not retain them for the caller.

/// The cl_mem of a buffer or an image. For memory wrapped with an offset, it is a sub-buffer.
[[nodiscard]] inline cl_mem memory_of(const Buffer& buffer) {
  return static_cast<cl_mem>(interop::handle_of(buffer, "opencl"));
}
[[nodiscard]] inline cl_mem memory_of(const Image& image) { return memory_of(image.buffer()); }
/// The queue of a stream.
[[nodiscard]] inline cl_command_queue queue_of(const Stream& stream) {
  return static_cast<cl_command_queue>(interop::handle_of(stream, "opencl"));
}
/// The cl_event of an event; null before the event is recorded. Recording it again creates another.
[[nodiscard]] inline cl_event event_of(const Event& event) {
  return static_cast<cl_event>(interop::handle_of(event, "opencl"));
}
/// The context of the device.
[[nodiscard]] inline cl_context context_of(const Device& device) {
  return static_cast<cl_context>(interop::context_of(device, "opencl"));
}
/// The OpenCL id of the device.
[[nodiscard]] inline cl_device_id device_id_of(const Device& device) {
  return static_cast<cl_device_id>(interop::device_handle_of(device, "opencl"));
}

}  // namespace warpalign::opencl
