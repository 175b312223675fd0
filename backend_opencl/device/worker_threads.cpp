// Threads that end when they have no more work.
#include "device/worker_threads.hpp"

#include <utility>

namespace warpalign::opencl {

void WorkerThreads::start(std::function<void()> body) {
  join_ended();
  Worker& worker = workers_.emplace_back();
  try {
    worker.thread = std::thread([&worker, body = std::move(body)] {
      body();
      worker.has_ended = true;
    });
  } catch (...) {
    workers_.pop_back();
    throw;
  }
}

/// Joins the threads that have ended. It waits only briefly: a thread does nothing after it has
/// recorded its end.
void WorkerThreads::join_ended() {
  workers_.remove_if([](Worker& worker) {
    if (!worker.has_ended) return false;
    worker.thread.join();
    return true;
  });
}

void WorkerThreads::join() {
  for (Worker& worker : workers_) worker.thread.join();
  workers_.clear();
}

void WorkerThreads::detach() {
  for (Worker& worker : workers_) worker.thread.detach();
  workers_.clear();
}

}  // namespace warpalign::opencl
