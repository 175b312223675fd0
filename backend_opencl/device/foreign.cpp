// Checks handles that the caller made, by asking OpenCL about them.
#include "device/foreign.hpp"

#include "device/device_list.hpp"
#include "device/errors.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace warpalign::opencl {

namespace {

constexpr const char* stage = "wrap";

[[noreturn]] void refuse(const Context& context, const std::string& message,
                         const std::string& advice = {}) {
  throw error(ErrorKind::invalid_argument, message, context.call_site(stage), advice);
}

/// Reports a handle that OpenCL does not know as the caller's mistake, not as the device's failure.
void check_handle(cl_int status, const char* call, const std::string& what, const CallSite& site) {
  if (status != CL_INVALID_MEM_OBJECT && status != CL_INVALID_COMMAND_QUEUE) {
    return check(status, call, site);
  }
  throw Error(ErrorKind::invalid_argument, what,
              {site.stage, "opencl", site.device, call, code_name(status), {}});
}

template <class T>
T memory_value(const Context& context, cl_mem memory, cl_mem_info what) {
  T value{};
  check_handle(clGetMemObjectInfo(memory, what, sizeof value, &value, nullptr),
               "clGetMemObjectInfo", "the memory is not a cl_mem of this OpenCL",
               context.call_site(stage));
  return value;
}

template <class T>
T queue_value(const Context& context, cl_command_queue queue, cl_command_queue_info what) {
  T value{};
  check_handle(clGetCommandQueueInfo(queue, what, sizeof value, &value, nullptr),
               "clGetCommandQueueInfo", "the queue is not a cl_command_queue of this OpenCL",
               context.call_site(stage));
  return value;
}

void check_access(const Context& context, cl_mem_flags flags, bool read_only) {
  if ((flags & CL_MEM_WRITE_ONLY) != 0) {
    refuse(context, "kernels cannot read memory that was made with CL_MEM_WRITE_ONLY",
           "make it with CL_MEM_READ_WRITE");
  }
  if ((flags & CL_MEM_READ_ONLY) != 0 && !read_only) {
    refuse(context, "kernels cannot write memory that was made with CL_MEM_READ_ONLY",
           "wrap it as read-only, or make it with CL_MEM_READ_WRITE");
  }
}

/// Checks the alignment of buffers with CL_MEM_USE_HOST_PTR, whose host memory may begin anywhere.
void check_alignment(const Context& context, cl_mem whole, cl_mem_flags flags, std::size_t offset) {
  std::uintptr_t begin = offset;
  if ((flags & CL_MEM_USE_HOST_PTR) != 0) {
    begin += reinterpret_cast<std::uintptr_t>(memory_value<void*>(context, whole, CL_MEM_HOST_PTR));
  }
  if (begin % backend::unowned_alignment == 0) return;
  refuse(context, "the memory does not begin at a multiple of " +
                      std::to_string(backend::unowned_alignment) + " bytes");
}

void check_size(const Context& context, cl_mem buffer, const backend::UnownedMemory& memory) {
  const auto size = memory_value<std::size_t>(context, buffer, CL_MEM_SIZE);
  if (memory.offset <= size && memory.bytes <= size - memory.offset) return;
  refuse(context, "the memory has " + std::to_string(size) + " bytes; " +
                      std::to_string(memory.bytes) + " from byte " + std::to_string(memory.offset) +
                      " on are needed");
}

/// A sub-buffer. OpenCL requires that it begins at a multiple of the device's address alignment.
Handle<cl_mem> part_of(const Context& context, cl_mem whole, std::size_t offset,
                       std::size_t bytes) {
  const cl_buffer_region region{offset, bytes};
  cl_int status = CL_SUCCESS;
  const cl_mem part = clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &status);
  if (status == CL_MISALIGNED_SUB_BUFFER_OFFSET) {
    const auto bits = device_value<cl_uint>(context.id(), CL_DEVICE_MEM_BASE_ADDR_ALIGN);
    refuse(context, "the offset of " + std::to_string(offset) + " bytes is not a multiple of " +
                        std::to_string(bits / 8) + ", which this device requires");
  }
  check(status, "clCreateSubBuffer", context.call_site(stage));
  context.count_allocation();
  return adopt(part);
}

}  // namespace

SubBuffer checked_sub_buffer(const Context& context, const backend::UnownedMemory& memory) {
  auto* const buffer = static_cast<cl_mem>(memory.handle);
  if (memory_value<cl_mem_object_type>(context, buffer, CL_MEM_TYPE) != CL_MEM_OBJECT_BUFFER) {
    refuse(context, "the memory is not a buffer; only buffers can be wrapped, not images");
  }
  if (memory_value<cl_context>(context, buffer, CL_MEM_CONTEXT) != context.handle().get()) {
    refuse(context, "the memory belongs to another cl_context than the device",
           "open the device in the context of the memory");
  }
  check_size(context, buffer, memory);
  const auto flags = memory_value<cl_mem_flags>(context, buffer, CL_MEM_FLAGS);
  check_access(context, flags, memory.read_only);
  // OpenCL makes no sub-buffer of a sub-buffer, so make one of the whole buffer.
  cl_mem whole = memory_value<cl_mem>(context, buffer, CL_MEM_ASSOCIATED_MEMOBJECT);
  std::size_t offset = memory.offset;
  if (whole != nullptr) {
    offset += memory_value<std::size_t>(context, buffer, CL_MEM_OFFSET);
  } else {
    whole = buffer;
  }
  check_alignment(context, whole, memory_value<cl_mem_flags>(context, whole, CL_MEM_FLAGS), offset);
  if (memory.offset == 0) return {share(buffer), whole, offset};
  return {part_of(context, whole, offset, memory.bytes), whole, offset};
}

void check_queue(const Context& context, cl_command_queue queue) {
  if (queue == nullptr) refuse(context, "the queue is null");
  if (queue_value<cl_context>(context, queue, CL_QUEUE_CONTEXT) != context.handle().get()) {
    refuse(context, "the queue belongs to another cl_context than the device",
           "open the device in the context of the queue");
  }
  if (queue_value<cl_device_id>(context, queue, CL_QUEUE_DEVICE) != context.id()) {
    refuse(context, "the queue belongs to another device of its context");
  }
  // Kernels of a plan run in order, without events between them.
  const auto properties =
      queue_value<cl_command_queue_properties>(context, queue, CL_QUEUE_PROPERTIES);
  if ((properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0) {
    refuse(context, "the queue is out of order",
           "make a queue without CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE");
  }
}

bool is_profiled(cl_command_queue queue) {
  cl_command_queue_properties properties = 0;
  return clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties,
                               nullptr) == CL_SUCCESS &&
         (properties & CL_QUEUE_PROFILING_ENABLE) != 0;
}

void check_event(const Context& context, cl_event event) {
  cl_context its_context = nullptr;
  check_handle(clGetEventInfo(event, CL_EVENT_CONTEXT, sizeof its_context, &its_context, nullptr),
               "clGetEventInfo", "the event is not a cl_event of this OpenCL",
               context.call_site(stage));
  if (its_context != context.handle().get()) {
    refuse(context, "the event belongs to another cl_context than the device");
  }
}

void check_within(cl_context context, cl_device_id device) {
  const CallSite site{"open", {}};
  std::size_t bytes = 0;
  const std::string what = "the context is not a cl_context of this OpenCL";
  check_handle(clGetContextInfo(context, CL_CONTEXT_DEVICES, 0, nullptr, &bytes),
               "clGetContextInfo", what, site);
  std::vector<cl_device_id> devices(bytes / sizeof(cl_device_id));
  check_handle(clGetContextInfo(context, CL_CONTEXT_DEVICES, bytes, devices.data(), nullptr),
               "clGetContextInfo", what, site);
  if (std::find(devices.begin(), devices.end(), device) != devices.end()) return;
  throw error(ErrorKind::invalid_argument, "the context does not contain the device", site);
}

}  // namespace warpalign::opencl
