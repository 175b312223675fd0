// Keeps scratch memory safe when one plan is used on several queues in turn.
#pragma once

#include "device/handles.hpp"

namespace warpalign::opencl {

/// A plan's scratch memory is used by one launch after another. On one in-order queue that costs
/// nothing; when the queue changes, the new queue is made to wait for the work of the old one.
class ScratchGuard {
 public:
  /// Call before each use of the scratch memory.
  void enter(cl_command_queue queue, const char* stage);
  /// May be called after each use: another queue then waits only for the work enqueued up to here,
  /// not for what this queue is given later. This is for plans that several queues use all the
  /// time; nothing is marked until the queue has changed once.
  void leave(const char* stage);

 private:
  Handle<cl_command_queue> last_;
  Handle<cl_event> left_;  // null if nothing was marked since the last enter()
  bool has_changed_ = false;
};

}  // namespace warpalign::opencl
