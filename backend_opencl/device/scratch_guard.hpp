// Keeps scratch memory safe when one plan is used on several queues in turn.
#pragma once

#include "device/handles.hpp"

namespace warpalign::opencl {

/// A plan's scratch memory is used by one launch after another. On one in-order queue that is
/// free; when the queue changes, the new one is made to wait for the old one's work.
class ScratchGuard {
 public:
  /// Call before each use of the scratch memory.
  void enter(cl_command_queue queue, const char* stage);
  /// May be called after each use: another queue then waits for the work up to here, not for what
  /// the queue is given later. For plans that several queues use all the time; marks nothing until
  /// the queue has changed once.
  void leave(const char* stage);

 private:
  compute::command_queue last_;
  compute::event left_;  // none: not marked since the last enter()
  bool has_changed_ = false;
};

}  // namespace warpalign::opencl
