// A second thread that works on a fork of the pair's context.
#include "registration/pair/forked_worker.hpp"

#include "registration/search/drawn_pair.hpp"
#include "support/devices.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

namespace {

namespace detail = warpalign::detail;
using detail::PairContext;
using warpalign::Homography;
using warpalign::Shape;

constexpr Shape shape{40, 30, 1};

class Pair : public test::DrawnPair {
 public:
  explicit Pair(const warpalign::Device& device) : DrawnPair(device, shape, shape) {
    draw(test::Spots(31), Homography(), {0, 0});
  }
};

using Worker = detail::ForkedWorker<std::vector<int>>;

}  // namespace

TEST_CASE("forked worker: runs its job on its own thread and stream") {
  test::on_every_device([](const warpalign::Device& device) {
    Pair pair(device);
    detail::ThreadBudget threads(1);
    Worker worker(device, &threads);
    worker.begin_pair(pair.shared_work(threads));
    for (const int input : {3, 4}) {
      std::thread::id thread;
      const warpalign::Stream* stream = nullptr;
      Shape moving{};
      bool own_is_done = false;
      worker.run(
          [&](const PairContext& fork, std::vector<int>& found) {
            thread = std::this_thread::get_id();
            stream = &fork.stream;
            moving = fork.moving.shape();
            CHECK(fork.threads == &threads);
            found = {input, 2 * input};
          },
          [&] { own_is_done = true; });
      CHECK(worker.state() == std::vector{input, 2 * input});
      CHECK(own_is_done);
      CHECK(thread != std::this_thread::get_id());
      CHECK(stream != &pair.stream);
      CHECK(moving == shape);
    }
    CHECK_FALSE(threads.take());  // the worker has it
  });
}

TEST_CASE("forked worker: without a free thread the caller's thread runs the job afterwards") {
  test::on_every_device([](const warpalign::Device& device) {
    Pair pair(device);
    detail::ThreadBudget none(0);
    Worker worker(device, &none);
    worker.begin_pair(pair.shared_work(none));
    bool own_is_done = false;
    worker.run(
        [&](const PairContext& /*fork*/, std::vector<int>& found) {
          CHECK(own_is_done);
          found = {7};
        },
        [&] { own_is_done = true; });
    CHECK(worker.state() == std::vector{7});
  });
}

TEST_CASE("forked worker: an error of either thread is thrown after both have ended") {
  test::on_every_device([](const warpalign::Device& device) {
    Pair pair(device);
    detail::ThreadBudget threads(1);
    Worker worker(device, &threads);
    worker.begin_pair(pair.shared_work(threads));
    std::atomic<bool> released = false;
    std::atomic<int> ended = 0;
    bool fails = true;
    const auto job = [&](const PairContext& /*fork*/, std::vector<int>& found) {
      while (!released) std::this_thread::yield();
      ++ended;
      if (fails) throw std::runtime_error("of the worker");
      found = {5};
    };
    const auto release = [&] { released = true; };
    CHECK_THROWS_WITH(worker.run(job, release), "of the worker");
    CHECK(ended == 1);
    released = false;
    fails = false;
    CHECK_THROWS_WITH(worker.run(job,
                                 [&] {
                                   released = true;
                                   throw std::runtime_error("of the caller");
                                 }),
                      "of the caller");
    CHECK(ended == 2);  // the job's objects may be destroyed now
    worker.run(job, release);
    CHECK(worker.state() == std::vector{5});
  });
}

TEST_CASE("forked worker: a cancelled job leaves nothing enqueued") {
  test::on_every_device([](const warpalign::Device& device) {
    Pair pair(device);
    detail::ThreadBudget threads(1);
    Worker worker(device, &threads);
    std::atomic<bool> cancelled = false;
    worker.begin_pair(pair.shared_work(threads, &cancelled));
    worker.run(
        [&](const PairContext& fork, std::vector<int>& /*found*/) {
          static_cast<void>(fork.moving.level(fork.stream, fork.clock, {2}));
          cancelled = true;
          CHECK(fork.is_cancelled());
        },
        [] {});
    CHECK(worker.state().empty());
  });
}

TEST_CASE("thread budget: gives out as many threads as it has, and those that were returned") {
  detail::ThreadBudget threads(2);
  CHECK(threads.take());
  CHECK(threads.take());
  CHECK_FALSE(threads.take());
  threads.give_back();
  CHECK(threads.take());
  CHECK_FALSE(threads.take());
}
