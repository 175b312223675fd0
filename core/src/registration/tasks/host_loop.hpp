// Threads of the host that work for one batch.
#pragma once

#include "device/lanes.hpp"
#include "registration/tasks/parallel_for.hpp"
#include "registration/tasks/thread_budget.hpp"

#include <warpalign/device.hpp>

#include <algorithm>
#include <cstddef>

namespace warpalign::detail {

/// The threads of the host for a batch, if `sharing` batches run at the same time. A GPU waits for
/// the host, whose cores these share; a device that is the host has no cores to spare.
[[nodiscard]] inline std::size_t host_threads_of(const Device& device, std::size_t sharing) {
  constexpr std::size_t most = 8;
  if (device.info().kind == DeviceKind::cpu) return 1;
  return std::clamp<std::size_t>(host_threads() / sharing, 1, most);
}

/// A loop over the images of a batch.
class HostLoop {
 public:
  /// `threads`: at least 1, the caller's.
  explicit HostLoop(std::size_t threads)
      : threads_(threads), budget_(static_cast<int>(threads) - 1), loop_(&budget_, threads - 1) {}

  /// The number of parts of a loop, at most.
  [[nodiscard]] std::size_t threads() const { return threads_; }
  [[nodiscard]] ParallelFor& loop() { return loop_; }

 private:
  std::size_t threads_;
  ThreadBudget budget_;
  ParallelFor loop_;
};

}  // namespace warpalign::detail
