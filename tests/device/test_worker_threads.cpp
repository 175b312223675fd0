// Threads of the OpenCL backend that compile ahead: those that have ended do not pile up.
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
    // What is between its last word and its end takes a moment.
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    most = std::max(most, workers.size());
  }
  CHECK(most < rounds / 4);  // a busy machine may leave a few waiting for their end
  workers.join();
  CHECK(workers.size() == 0);
}

TEST_CASE("worker threads: those at work are left alone, and waited for in the end") {
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
