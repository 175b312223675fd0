// Orders two queues by an event, only when the queue changes.
#include "queue_order.hpp"

#include "errors.hpp"

namespace warpalign::opencl {

void QueueOrder::enter(cl_command_queue queue, const char* stage) {
  if (last_.get() == queue) return;
  if (last_.get() != nullptr) {
    const Place place{stage, {}};
    cl_event raw = nullptr;
    check(clEnqueueMarkerWithWaitList(last_.get(), 0, nullptr, &raw), "clEnqueueMarkerWithWaitList",
          place);
    const compute::event done(raw, false);
    check(clFlush(last_.get()), "clFlush", place);
    check(clEnqueueBarrierWithWaitList(queue, 1, &raw, nullptr), "clEnqueueBarrierWithWaitList",
          place);
  }
  last_ = compute::command_queue(queue);  // retains it, so that its address is not reused
}

}  // namespace warpalign::opencl
