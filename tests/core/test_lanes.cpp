// Parts that run in parallel lanes: each once, and how failures are handled.
#include "device/lanes.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

using warpalign::detail::run_in_lanes;

TEST_CASE("lanes: each part runs once, and a lane runs one at a time") {
  constexpr std::size_t lanes = 3;
  std::vector<std::atomic<int>> done(50);
  std::vector<std::atomic<int>> busy(lanes);
  std::atomic<bool> alone = true;
  run_in_lanes(lanes, done.size(), [&](std::size_t lane, std::size_t part) {
    if (busy[lane]++ != 0) alone = false;
    std::this_thread::yield();
    ++done[part];
    --busy[lane];
  });
  CHECK(alone);
  for (const auto& times : done) CHECK(times == 1);
}

TEST_CASE("lanes: one lane, or no parts, need no threads") {
  std::set<std::thread::id> threads;
  run_in_lanes(1, 4, [&](std::size_t, std::size_t) { threads.insert(std::this_thread::get_id()); });
  CHECK(threads == std::set{std::this_thread::get_id()});
  run_in_lanes(2, 0, [](std::size_t, std::size_t) { FAIL("there is no part"); });
}

TEST_CASE("lanes: after a failure no part starts, and the caller gets the exception") {
  std::mutex mutex;
  std::size_t begun = 0;
  const auto work = [&](std::size_t, std::size_t part) {
    const std::scoped_lock lock(mutex);
    ++begun;
    if (part == 3) throw std::runtime_error("of part 3");
  };
  CHECK_THROWS_WITH_AS(run_in_lanes(1, 100, work), "of part 3", std::runtime_error);
  CHECK(begun == 4);
  begun = 0;
  CHECK_THROWS_WITH_AS(run_in_lanes(4, 100000, work), "of part 3", std::runtime_error);
  CHECK(begun < 100000);
}
