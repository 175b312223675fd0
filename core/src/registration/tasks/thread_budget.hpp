// The number of threads that may work on a search.
#pragma once

#include <atomic>

namespace warpalign::detail {

/// The threads that a registrar may start in addition to the caller's. A task holds one for as long
/// as its thread exists. If none is left, the thread that needs the result runs the task.
class ThreadBudget {
 public:
  explicit ThreadBudget(int threads) : left_(threads) {}
  ThreadBudget(const ThreadBudget&) = delete;
  ThreadBudget& operator=(const ThreadBudget&) = delete;

  /// Takes a thread. Returns false if none is left.
  [[nodiscard]] bool take() noexcept {
    int left = left_;
    while (left > 0) {
      if (left_.compare_exchange_weak(left, left - 1)) return true;
    }
    return false;
  }
  void give_back() noexcept { ++left_; }

 private:
  std::atomic<int> left_;
};

}  // namespace warpalign::detail
