// Guards images in the caller's memory, which the caller may free when a call returns.
#pragma once

#include "device/access.hpp"

namespace warpalign::detail {

/// At the end of its scope, also after an exception, waits until the stream no longer reads the
/// image if the caller owns the image's memory.
class UnownedMemoryGuard {
 public:
  UnownedMemoryGuard(Stream& stream, const Image& image)
      : queue_(Access::is_foreign(image) ? &Access::queue(stream) : nullptr) {}
  UnownedMemoryGuard(const UnownedMemoryGuard&) = delete;
  UnownedMemoryGuard& operator=(const UnownedMemoryGuard&) = delete;
  ~UnownedMemoryGuard() {
    if (queue_ == nullptr) return;
    try {
      queue_->finish();
    } catch (...) {  // the call that enqueued the failed command, or the next one, reports it
    }
  }

 private:
  backend::Queue* queue_;
};

}  // namespace warpalign::detail
