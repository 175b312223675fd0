// Orders the uses of scratch memory if one plan runs on several queues in turn.
#pragma once

#include "device/handles.hpp"

namespace warpalign::opencl {

/// Successive launches of a plan use the same scratch memory. On one in-order queue that needs no
/// synchronization. If the queue changes, the new queue waits for the work of the old one.
class ScratchGuard {
 public:
  /// Call this before each use of the scratch memory.
  void enter(cl_command_queue queue, const char* stage);
  /// May be called after each use: another queue then waits only for the work enqueued so far, not
  /// for later work of this queue. Use it in plans that several queues use all the time. Records no
  /// marker until the queue has changed once.
  void leave(const char* stage);

 private:
  Handle<cl_command_queue> last_;
  Handle<cl_event> left_;  // null if no marker was recorded since the last enter()
  bool has_changed_ = false;
};

}  // namespace warpalign::opencl
