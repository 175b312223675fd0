// Concurrent lanes that process the parts of one task.
#include "device/lanes.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace warpalign::detail {

namespace {

class PartQueue {
 public:
  PartQueue(std::size_t parts, const std::function<void(std::size_t, std::size_t)>& work)
      : parts_(parts), work_(work) {}

  void process_parts(std::size_t lane) noexcept {
    try {
      for (std::size_t part = next_++; part < parts_ && !ended_; part = next_++) work_(lane, part);
    } catch (...) {
      const std::scoped_lock lock(mutex_);
      if (!failure_) failure_ = std::current_exception();
      ended_ = true;
    }
  }
  void rethrow_failure() {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  std::size_t parts_;
  const std::function<void(std::size_t, std::size_t)>& work_;
  std::atomic<std::size_t> next_{0};
  std::atomic<bool> ended_{false};
  std::mutex mutex_;
  std::exception_ptr failure_;
};

}  // namespace

std::size_t host_threads() noexcept { return std::max(std::thread::hardware_concurrency(), 1U); }

void run_in_lanes(std::size_t lanes, std::size_t parts,
                  const std::function<void(std::size_t lane, std::size_t part)>& work) {
  PartQueue queue(parts, work);
  {
    std::vector<std::jthread> threads;
    threads.reserve(lanes);
    try {
      for (std::size_t lane = 1; lane < lanes; ++lane) {
        threads.emplace_back([&queue, lane] { queue.process_parts(lane); });
      }
    } catch (const std::system_error&) {
      // The system has no more threads: the other lanes process all parts.
    }
    queue.process_parts(0);
  }  // waits for the threads
  queue.rethrow_failure();
}

}  // namespace warpalign::detail
