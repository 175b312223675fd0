// Detection of a lost device.
#pragma once

#include <atomic>

namespace warpalign::backend {

/// Records that a device is lost: a call to its runtime failed in such a way that no later call can
/// succeed, because the device was reset or removed, or a failing kernel destroyed its context.
/// Thread-safe.
class DeviceLoss {
 public:
  /// `code` is the symbolic code of the failure, a string literal. Later codes are ignored.
  void note(const char* code) noexcept {
    const char* none = nullptr;
    code_.compare_exchange_strong(none, code, std::memory_order_relaxed);
  }
  /// Null if the device is not lost.
  [[nodiscard]] const char* code() const noexcept { return code_.load(std::memory_order_relaxed); }

 private:
  std::atomic<const char*> code_{nullptr};
};

}  // namespace warpalign::backend
