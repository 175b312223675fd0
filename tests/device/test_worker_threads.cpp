// Threads of the OpenCL backend that compile kernels early: those that have ended are joined.
#include "device/worker_threads.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <future>
#include <thread>

using warpalign::opencl::WorkerThreads;

TEST_CASE("worker threads: one that has ended is joined when the next is started") {
  WorkerThreads workers;
  constexpr int rounds = 200;
  std::size_t most = 0;
  for (int i = 0; i < rounds; ++i) {
    std::promise<void> done;
    workers.start([&] { done.set_value(); });
    done.get_future().wait();
    // A thread needs a moment to end after its last statement.
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    most = std::max(most, workers.size());
  }
  CHECK(most < rounds / 4);  // on a busy machine some may not have ended yet
  workers.join();
  CHECK(workers.size() == 0);
}

TEST_CASE("worker threads: running ones continue, and are joined at the end") {
  WorkerThreads workers;
  std::promise<void> go;
  const std::shared_future<void> may_end(go.get_future());
  std::atomic<int> ended = 0;
  for (int i = 0; i < 3; ++i) {
    workers.start([&ended, may_end] {
      may_end.wait();
      ++ended;
    });
  }
  CHECK(workers.size() == 3);
  CHECK(ended == 0);
  go.set_value();
  workers.join();
  CHECK(ended == 3);
}
