// Asynchronous copies of a few bytes to the host.
#include "device/readback.hpp"

#include "device/errors.hpp"
#include "device/queue.hpp"

#include <warpalign/backend/fork.hpp>

namespace warpalign::opencl {

PinnedReadback::PinnedReadback(Context& context, std::size_t bytes)
    : site_(context.call_site("readback")), host_(context, bytes, site_) {}

PinnedReadback::~PinnedReadback() {
  if (backend::is_forked()) return;
  const cl_event event = arrived_.get();
  if (event != nullptr) clWaitForEvents(1, &event);
}

void PinnedReadback::enqueue(backend::Queue& queue, const backend::Memory& source,
                             std::size_t bytes) {
  cl_event event = nullptr;
  check(clEnqueueReadBuffer(queue_of(queue), buffer_of(source), CL_FALSE, 0, bytes, host_.data(), 0,
                            nullptr, &event),
        "clEnqueueReadBuffer", site_);
  arrived_ = adopt(event);
}

const void* PinnedReadback::wait() {
  const cl_event event = arrived_.get();
  if (event != nullptr) check(clWaitForEvents(1, &event), "clWaitForEvents", site_);
  arrived_ = Handle<cl_event>();
  return host_.data();
}

}  // namespace warpalign::opencl
