// A loop whose range several threads share.
#pragma once

#include "registration/tasks/background_task.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

namespace warpalign::detail {

/// Its threads live from one loop to the next. Used by one thread at a time.
class ParallelFor {
 public:
  /// What is done for the numbers from `first` on and below `end`.
  using Body = std::function<void(std::size_t first, std::size_t end)>;

  /// `workers`: how many threads help the calling one, if `threads` has as many.
  ParallelFor(ThreadBudget* threads, std::size_t workers);

  /// Calls body() for parts of a range that cover it and do not overlap, the last one on this
  /// thread, and returns when all are done. Throws what one of them has thrown.
  void run(std::size_t first, std::size_t end, const Body& body);

 private:
  struct Part {
    explicit Part(ThreadBudget* threads) : task(threads, [this] { (*body)(first, end); }) {}
    const Body* body = nullptr;
    std::size_t first = 0, end = 0;
    BackgroundTask task;  // whose thread uses the others, and is ended first
  };
  std::vector<std::unique_ptr<Part>> parts_;
};

}  // namespace warpalign::detail
