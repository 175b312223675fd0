// Whether a device is lost.
#pragma once

#include <atomic>

namespace warpalign::backend {

/// Whether a call to the device's runtime has failed in such a way that no later one can succeed:
/// the device was reset or taken away, or a kernel's failure ended its context. Any thread may ask.
class Loss {
 public:
  /// `code` is the failure's symbolic code, and must live for ever. The first one stays.
  void note(const char* code) noexcept {
    const char* none = nullptr;
    code_.compare_exchange_strong(none, code, std::memory_order_relaxed);
  }
  /// Null as long as the device is not lost.
  [[nodiscard]] const char* code() const noexcept { return code_.load(std::memory_order_relaxed); }

 private:
  std::atomic<const char*> code_{nullptr};
};

}  // namespace warpalign::backend
