// Orders two queues by an event, and only when the queue changes.
#include "device/scratch_guard.hpp"

#include "device/errors.hpp"

#include <utility>

namespace warpalign::opencl {

namespace {

Handle<cl_event> mark(cl_command_queue queue, const CallSite& site) {
  cl_event raw = nullptr;
  check(clEnqueueMarkerWithWaitList(queue, 0, nullptr, &raw), "clEnqueueMarkerWithWaitList", site);
  return adopt(raw);
}

}  // namespace

void ScratchGuard::enter(cl_command_queue queue, const char* stage) {
  const Handle<cl_event> left = std::exchange(left_, {});
  if (last_.get() == queue) return;
  if (last_.get() != nullptr) {
    const CallSite site{stage, {}};
    const Handle<cl_event> done = left.get() != nullptr ? left : mark(last_.get(), site);
    check(clFlush(last_.get()), "clFlush", site);
    cl_event raw = done.get();
    check(clEnqueueBarrierWithWaitList(queue, 1, &raw, nullptr), "clEnqueueBarrierWithWaitList",
          site);
    has_changed_ = true;
  }
  last_ = share(queue);  // retains it, so that its address is not reused
}

void ScratchGuard::leave(const char* stage) {
  if (has_changed_) left_ = mark(last_.get(), {stage, {}});
}

}  // namespace warpalign::opencl
