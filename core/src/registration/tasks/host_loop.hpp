// Threads of the host that work for one batch.
#pragma once

#include "device/lanes.hpp"
#include "registration/tasks/parallel_for.hpp"
#include "registration/tasks/thread_budget.hpp"

#include <warpalign/device.hpp>

#include <algorithm>
#include <cstddef>

namespace warpalign::detail {

/// A loop over the images of a batch. A GPU waits for the host, whose cores the batches that run at
/// the same time share; a device that is the host has no cores to spare.
class HostLoop {
 public:
  /// `sharing`: the number of such batches.
  HostLoop(const Device& device, std::size_t sharing)
      : threads_(threads_for(device, sharing)),
        budget_(static_cast<int>(threads_) - 1),
        loop_(&budget_, threads_ - 1) {}

  /// The number of parts of a loop, at most.
  [[nodiscard]] std::size_t threads() const { return threads_; }
  [[nodiscard]] ParallelFor& loop() { return loop_; }

 private:
  static std::size_t threads_for(const Device& device, std::size_t sharing) {
    constexpr std::size_t most = 8;
    if (device.info().kind == DeviceKind::cpu) return 1;
    return std::clamp<std::size_t>(host_threads() / sharing, 1, most);
  }

  std::size_t threads_;
  ThreadBudget budget_;
  ParallelFor loop_;
};

}  // namespace warpalign::detail
