// Checks of what the caller made with OpenCL itself. All throw Error(invalid_argument).
#pragma once

#include "device/context.hpp"

#include <warpalign/backend/foreign.hpp>

namespace warpalign::opencl {

/// A part of the caller's buffer, and where it lies.
struct BufferPart {
  Handle<cl_mem> buffer;   ///< shares the memory of the whole
  cl_mem whole = nullptr;  ///< the buffer that was allocated
  std::size_t offset = 0;  ///< in bytes, within the whole
};

/// The memory must be a buffer of this context, hold that many bytes, be aligned, and be readable,
/// and writable unless it is said to be read-only.
[[nodiscard]] BufferPart checked_part(const Context& context, const backend::ForeignMemory& memory);

/// The queue must be in order, and of this context and device.
void check_queue(const Context& context, cl_command_queue queue);
[[nodiscard]] bool is_profiled(cl_command_queue queue);

void check_event(const Context& context, cl_event event);

/// The device must be of the context.
void check_within(cl_context context, cl_device_id device);

}  // namespace warpalign::opencl
