// Host memory that the driver allocates.
#include "device/pinned.hpp"

#include <warpalign/backend/fork.hpp>

namespace warpalign::opencl {

PinnedMemory::PinnedMemory(const Context& context, std::size_t bytes, const CallSite& site)
    : service_(context.service_queue()) {
  cl_int status = CL_SUCCESS;
  const cl_mem raw = clCreateBuffer(
      context.handle().get(), CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes, nullptr, &status);
  check(status, "clCreateBuffer", site);
  context.count_allocation();
  buffer_ = adopt(raw);
  data_ = clEnqueueMapBuffer(service_.get(), raw, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, bytes, 0,
                             nullptr, nullptr, &status);
  check(status, "clEnqueueMapBuffer", site);
}

PinnedMemory::~PinnedMemory() {
  if (backend::is_forked()) return;
  clEnqueueUnmapMemObject(service_.get(), buffer_.get(), data_, 0, nullptr, nullptr);
  clFinish(service_.get());
}

}  // namespace warpalign::opencl
