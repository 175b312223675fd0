// Counts the running searches of this process.
#pragma once

#include <atomic>

namespace warpalign::detail {

/// Create one for the duration of a search. If several pairs are searched at the same time, the
/// device is busy without additional threads.
class ActiveSearch {
 public:
  ActiveSearch() { ++running_; }
  ActiveSearch(const ActiveSearch&) = delete;
  ActiveSearch& operator=(const ActiveSearch&) = delete;
  ~ActiveSearch() { --running_; }

  [[nodiscard]] static bool is_exclusive() { return running_ == 1; }

 private:
  static inline std::atomic<int> running_{0};
};

}  // namespace warpalign::detail
