// Threads that end by themselves, and are started again where there is more to do.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <list>
#include <thread>

namespace warpalign::opencl {

/// A thread that has ended keeps its stack until it is joined, so that the next one that is started
/// joins it. One call at a time; the threads themselves may end at any moment.
class WorkerThreads {
 public:
  /// Runs `life`, which does not throw, on a thread of its own. Throws std::system_error where
  /// there are too many threads.
  void start(std::function<void()> life);
  /// Waits for all of them.
  void join();
  /// Forgets them: for a process that was forked, in which they are not.
  void detach();
  /// How many are not joined yet.
  [[nodiscard]] std::size_t size() const noexcept { return workers_.size(); }

 private:
  struct Worker {
    std::thread thread;
    std::atomic<bool> has_ended{false};
  };
  void join_ended();

  std::list<Worker> workers_;
};

}  // namespace warpalign::opencl
