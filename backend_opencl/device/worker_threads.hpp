// Threads that end when they have no more work, and are started again when there is more.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <list>
#include <thread>

namespace warpalign::opencl {

/// A thread that has ended keeps its stack until it is joined, so start() joins such threads first.
/// Only one thread may call the methods at a time; the worker threads may end at any moment.
class WorkerThreads {
 public:
  /// Runs `body`, which must not throw, on a new thread. Throws std::system_error if there are too
  /// many threads.
  void start(std::function<void()> body);
  /// Waits for all threads.
  void join();
  /// Detaches the threads after a fork: they do not exist in the child process.
  void detach();
  /// The number of threads that are not joined yet.
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
