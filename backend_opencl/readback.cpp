// A few bytes on their way to the host.
#include "readback.hpp"

#include "errors.hpp"
#include "queue.hpp"

namespace warpalign::opencl {

namespace {

compute::buffer make_pinned(OpenedDevice& device, std::size_t bytes, const Place& place) {
  cl_int status = CL_SUCCESS;
  const cl_mem raw = clCreateBuffer(
      device.context().get(), CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes, nullptr, &status);
  check(status, "clCreateBuffer", place);
  return compute::buffer(raw, false);
}

}  // namespace

PinnedReadback::PinnedReadback(OpenedDevice& device, std::size_t bytes)
    : place_(device.place("readback")),
      bytes_(bytes),
      service_(device.make_service_queue()),
      pinned_(make_pinned(device, bytes, place_)) {
  cl_int status = CL_SUCCESS;
  host_ = clEnqueueMapBuffer(service_.get(), pinned_.get(), CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0,
                             bytes, 0, nullptr, nullptr, &status);
  check(status, "clEnqueueMapBuffer", place_);
}

PinnedReadback::~PinnedReadback() {
  const cl_event event = arrived_.get();
  if (event != nullptr) clWaitForEvents(1, &event);
  clEnqueueUnmapMemObject(service_.get(), pinned_.get(), host_, 0, nullptr, nullptr);
  clFinish(service_.get());
}

void PinnedReadback::enqueue(backend::Queue& queue, const backend::Memory& source) {
  cl_event event = nullptr;
  check(clEnqueueReadBuffer(queue_of(queue), buffer_of(source), CL_FALSE, 0, bytes_, host_, 0,
                            nullptr, &event),
        "clEnqueueReadBuffer", place_);
  arrived_ = compute::event(event, false);
}

const void* PinnedReadback::wait() {
  const cl_event event = arrived_.get();
  check(clWaitForEvents(1, &event), "clWaitForEvents", place_);
  arrived_ = compute::event();
  return host_;
}

}  // namespace warpalign::opencl
