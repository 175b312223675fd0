// Checks objects that the caller made with OpenCL. All checks throw Error(invalid_argument).
#pragma once

#include "device/context.hpp"

#include <warpalign/backend/foreign.hpp>

namespace warpalign::opencl {

/// The part of the caller's buffer that the caller wraps.
struct SubBuffer {
  Handle<cl_mem> buffer;   ///< a sub-buffer, which shares the memory of the whole
  cl_mem whole = nullptr;  ///< the buffer that was allocated
  std::size_t offset = 0;  ///< in bytes, within the whole
};

/// Checks that the memory is a buffer of this context, holds that many bytes, is aligned and
/// readable, and is writable unless the caller wraps it as read-only.
[[nodiscard]] SubBuffer checked_sub_buffer(const Context& context,
                                           const backend::UnownedMemory& memory);

/// Checks that the queue is in order and belongs to this context and device.
void check_queue(const Context& context, cl_command_queue queue);
[[nodiscard]] bool is_profiled(cl_command_queue queue);

void check_event(const Context& context, cl_event event);

/// Checks that the context contains the device.
void check_within(cl_context context, cl_device_id device);

}  // namespace warpalign::opencl
