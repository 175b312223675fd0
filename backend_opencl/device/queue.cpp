// Copies, waits and time stamps on an OpenCL command queue.
#include "device/queue.hpp"

#include "device/foreign.hpp"
#include "device/memory.hpp"

#include <warpalign/backend/fork.hpp>

#include <array>
#include <cstring>

namespace warpalign::opencl {

namespace {

cl_ulong end_of(cl_event event, const CallSite& site) {
  cl_ulong nanoseconds = 0;
  check(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof nanoseconds, &nanoseconds,
                                nullptr),
        "clGetEventProfilingInfo", site);
  return nanoseconds;
}

}  // namespace

bool Event::done() const {
  if (event_.get() == nullptr) return true;
  cl_int state = CL_COMPLETE;
  check(clGetEventInfo(event_.get(), CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state,
                       nullptr),
        "clGetEventInfo", site_);
  return state <= CL_COMPLETE;  // negative: it failed and has ended
}

void Event::finish() const {
  const cl_event event = event_.get();
  if (event != nullptr) check(clWaitForEvents(1, &event), "clWaitForEvents", site_);
}

Queue::Queue(const Context& context, bool timed)
    : context_(context), site_(context.call_site("queue")) {
  const cl_command_queue_properties properties = timed ? CL_QUEUE_PROFILING_ENABLE : 0;
  cl_int status = CL_SUCCESS;
  const cl_command_queue raw =
      clCreateCommandQueue(context.handle().get(), context.id(), properties, &status);
  check(status, "clCreateCommandQueue", site_);
  queue_ = adopt(raw);
}

Queue::Queue(const Context& context, cl_command_queue queue)
    : context_(context), site_(context.call_site("queue")), is_callers_(true) {
  check_queue(context, queue);
  queue_ = share(queue);
}

// Flushes the caller's queue: others may wait for its commands, which must reach the device.
Queue::~Queue() {
  if (backend::is_forked()) return;
  if (is_callers_) {
    clFlush(queue_.get());
  } else {
    clFinish(queue_.get());
  }
}

void Queue::upload(const backend::HostRows& source, backend::Memory& target) {
  const cl_mem buffer = buffer_of(target);
  if (source.rows == 1 || source.pitch_bytes == source.row_bytes) {
    check(clEnqueueWriteBuffer(get(), buffer, CL_TRUE, 0, source.rows * source.row_bytes,
                               source.data, 0, nullptr, nullptr),
          "clEnqueueWriteBuffer", site_);
    return;
  }
  const std::array<std::size_t, 3> origin{0, 0, 0};
  const std::array<std::size_t, 3> region{source.row_bytes, source.rows, 1};
  check(clEnqueueWriteBufferRect(get(), buffer, CL_TRUE, origin.data(), origin.data(),
                                 region.data(), source.row_bytes, 0, source.pitch_bytes, 0,
                                 source.data, 0, nullptr, nullptr),
        "clEnqueueWriteBufferRect", site_);
}

void Queue::download(const backend::Memory& source, void* target, std::size_t bytes) {
  constexpr std::size_t small = std::size_t{64} << 10;
  const bool staged = bytes <= small && !context_.is_cpu();
  if (staged && !staging_) staging_.emplace(context_, small, site_);
  void* arrival = staged ? staging_->data() : target;
  check(clEnqueueReadBuffer(get(), buffer_of(source), CL_TRUE, 0, bytes, arrival, 0, nullptr,
                            nullptr),
        "clEnqueueReadBuffer", site_);
  if (staged) std::memcpy(target, arrival, bytes);
}

void Queue::copy(const backend::Memory& source, backend::Memory& target, std::size_t bytes) {
  check(clEnqueueCopyBuffer(get(), buffer_of(source), buffer_of(target), 0, 0, bytes, 0, nullptr,
                            nullptr),
        "clEnqueueCopyBuffer", site_);
}

void Queue::finish() { check(clFinish(get()), "clFinish", site_); }

void Queue::record(backend::Event& event) {
  cl_event marker = nullptr;
  check(clEnqueueMarkerWithWaitList(get(), 0, nullptr, &marker), "clEnqueueMarkerWithWaitList",
        site_);
  static_cast<Event&>(event).set(adopt(marker));
  check(clFlush(get()), "clFlush", site_);  // without it another queue might wait forever
}

void Queue::wait_for(const backend::Event& event) {
  const cl_event marker = static_cast<const Event&>(event).get();
  if (marker == nullptr) return;
  check(clEnqueueBarrierWithWaitList(get(), 1, &marker, nullptr), "clEnqueueBarrierWithWaitList",
        site_);
}

std::unique_ptr<backend::Mark> Queue::mark() {
  cl_event event = nullptr;
  check(clEnqueueMarkerWithWaitList(get(), 0, nullptr, &event), "clEnqueueMarkerWithWaitList",
        site_);
  return std::make_unique<Mark>(adopt(event));
}

double Queue::milliseconds_between(const backend::Mark& from, const backend::Mark& to) {
  const cl_event first = static_cast<const Mark&>(from).get();
  const cl_event last = static_cast<const Mark&>(to).get();
  const std::array events{first, last};
  check(clWaitForEvents(2, events.data()), "clWaitForEvents", site_);
  const cl_ulong begin = end_of(first, site_);
  const cl_ulong end = end_of(last, site_);
  return (static_cast<double>(end) - static_cast<double>(begin)) * 1e-6;
}

}  // namespace warpalign::opencl
