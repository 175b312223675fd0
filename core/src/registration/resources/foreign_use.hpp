// Images over the caller's memory, which the caller may free when a call returns.
#pragma once

#include "device/access.hpp"

namespace warpalign::detail {

/// Waits at the end of a scope, even one that is left by an exception, until the stream does not
/// read the image any more, if its memory is the caller's.
class ForeignUse {
 public:
  ForeignUse(Stream& stream, const Image& image)
      : queue_(Access::is_foreign(image) ? &Access::queue(stream) : nullptr) {}
  ForeignUse(const ForeignUse&) = delete;
  ForeignUse& operator=(const ForeignUse&) = delete;
  ~ForeignUse() {
    if (queue_ == nullptr) return;
    try {
      queue_->finish();
    } catch (...) {  // what failed is reported by the call that enqueued it, or by the next one
    }
  }

 private:
  backend::Queue* queue_;
};

}  // namespace warpalign::detail
