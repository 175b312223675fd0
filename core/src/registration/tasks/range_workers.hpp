// Threads that share the work on a range of numbers.
#pragma once

#include "registration/tasks/ahead.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

namespace warpalign::detail {

/// Threads that live on between ranges. Used by one thread at a time.
class RangeWorkers {
 public:
  /// What is done to the numbers from `first` on and below `end`.
  using Work = std::function<void(std::size_t first, std::size_t end)>;

  /// `others`: how many threads help the calling one.
  explicit RangeWorkers(std::size_t others);

  /// Calls work() for parts of a range that cover it and do not overlap, one of them on this
  /// thread, and returns when all have been done. Throws what one of them has thrown.
  void share(std::size_t first, std::size_t end, const Work& work);

 private:
  struct Part {
    Part() : ahead([this] { (*work)(first, end); }) {}
    const Work* work = nullptr;
    std::size_t first = 0, end = 0;
    Ahead ahead;  // whose thread uses the others, and is ended first
  };
  std::vector<std::unique_ptr<Part>> parts_;
};

}  // namespace warpalign::detail
