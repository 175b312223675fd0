// Allocates device memory. If that fails, the error says how much the device has.
#include "device/memory.hpp"

#include "device/foreign.hpp"

namespace warpalign::opencl {

namespace {

bool is_shortage(cl_int status) {
  return status == CL_MEM_OBJECT_ALLOCATION_FAILURE || status == CL_INVALID_BUFFER_SIZE ||
         status == CL_OUT_OF_RESOURCES || status == CL_OUT_OF_HOST_MEMORY;
}

}  // namespace

Handle<cl_mem> make_buffer(const Context& context, std::size_t bytes, const std::string& stage) {
  // Drivers allocate on first use, so refuse a size that can never work here, where the error can
  // name it.
  cl_int status = CL_INVALID_BUFFER_SIZE;
  cl_mem raw = nullptr;
  if (bytes <= context.info().max_allocation_bytes) {
    raw = clCreateBuffer(context.handle().get(), CL_MEM_READ_WRITE, bytes, nullptr, &status);
  }
  if (status == CL_SUCCESS) {
    context.count_allocation();
    return adopt(raw);
  }
  const Error other = failure(status, "clCreateBuffer", context.call_site(stage));
  if (!is_shortage(status) || context.lost() != nullptr) throw other;
  throw Error(ErrorKind::out_of_memory,
              "cannot allocate " + std::to_string(bytes) +
                  " bytes of device memory; the device's "
                  "largest single allocation is " +
                  std::to_string(context.info().max_allocation_bytes) + " of " +
                  std::to_string(context.info().memory_bytes) + " bytes",
              {stage, "opencl", context.info().name, "clCreateBuffer", code_name(status),
               "use smaller images, or free device memory held by other programs"});
}

Memory::Memory(const Context& context, const backend::UnownedMemory& memory) {
  const SubBuffer part = checked_sub_buffer(context, memory);
  buffer_ = part.buffer;
  whole_ = part.whole;
  offset_ = part.offset;
}

}  // namespace warpalign::opencl
