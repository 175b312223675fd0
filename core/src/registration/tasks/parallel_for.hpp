// A loop whose range is divided among several threads.
#pragma once

#include "registration/tasks/background_task.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

namespace warpalign::detail {

/// Its threads persist between loops. Not thread-safe.
class ParallelFor {
 public:
  /// The loop body for the indices from `first` to before `end`.
  using Body = std::function<void(std::size_t first, std::size_t end)>;

  /// `workers` is the number of additional threads, if `threads` allows as many.
  ParallelFor(ThreadBudget* threads, std::size_t workers);

  /// Calls body() for disjoint parts that cover the range, one of them on the calling thread.
  /// Returns when all are done. Rethrows an exception of any part.
  void run(std::size_t first, std::size_t end, const Body& body);

 private:
  struct Part {
    explicit Part(ThreadBudget* threads) : task(threads, [this] { (*body)(first, end); }) {}
    const Body* body = nullptr;
    std::size_t first = 0, end = 0;
    BackgroundTask task;  // declared last: its thread uses the members above
  };
  std::vector<std::unique_ptr<Part>> parts_;
};

}  // namespace warpalign::detail
