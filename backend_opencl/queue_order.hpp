// Keeps scratch memory safe when one plan is used on several queues in turn.
#pragma once

#include "handles.hpp"

namespace warpalign::opencl {

/// A plan's scratch memory is used by one launch after another. On one in-order queue that is
/// free; when the queue changes, the new one is made to wait for the old one's work so far.
class QueueOrder {
 public:
  /// Call before each use of the scratch memory.
  void enter(cl_command_queue queue, const char* stage);

 private:
  compute::command_queue last_;
};

}  // namespace warpalign::opencl
