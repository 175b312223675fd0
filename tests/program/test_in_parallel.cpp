// Work on all cores: every piece runs once, and failures are reported.
#include "io/in_parallel.hpp"

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <stdexcept>

namespace warpalign::test {
namespace {

TEST_CASE("in parallel: each piece of work runs once, and there may be none") {
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{500}}) {
    std::array<std::atomic<int>, 500> times{};
    program::in_parallel(count, [&](std::size_t i) { ++times.at(i); });
    for (std::size_t i = 0; i < times.size(); ++i) CHECK(times[i] == (i < count ? 1 : 0));
  }
}

TEST_CASE("in parallel: an exception reaches the caller after all other pieces have ended") {
  for (const std::size_t failing : {std::size_t{0}, std::size_t{99}}) {
    std::atomic<int> running{0};
    const auto work = [&](std::size_t i) {
      ++running;
      if (i == failing) {
        --running;
        throw std::runtime_error("piece " + std::to_string(i));
      }
      --running;
    };
    CHECK_THROWS_AS(program::in_parallel(100, work), std::runtime_error);
    CHECK(running == 0);
  }
}

}  // namespace
}  // namespace warpalign::test
