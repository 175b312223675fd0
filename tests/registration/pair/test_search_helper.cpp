// The second thread that takes a part of a search.
#include "registration/pair/search_helper.hpp"

#include "registration/search/drawn_pair.hpp"
#include "support/devices.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

namespace {

namespace detail = warpalign::detail;
using warpalign::Homography;
using warpalign::Shape;

constexpr Shape shape{40, 30, 1};

class Pair : public test::DrawnPair {
 public:
  explicit Pair(const warpalign::Device& device) : DrawnPair(device, shape, shape) {
    draw(test::Spots(31), Homography(), {0, 0});
  }
  [[nodiscard]] detail::PairWork stopped_by(const std::atomic<bool>& stop) {
    const auto own = work();
    return {own.stream, own.clock, own.reference, own.moving, nullptr, &stop, true};
  }
};

using Helper = detail::SearchHelper<int, std::vector<int>>;

}  // namespace

TEST_CASE("search helper: finds its part of the pair that is shown, on a stream of its own") {
  test::on_every_device([](const warpalign::Device& device) {
    Pair pair(device);
    std::thread::id its_thread;
    const warpalign::Stream* its_stream = nullptr;
    Shape its_shape{};
    Helper helper(device, [&](const detail::PairWork& work, int input) {
      its_thread = std::this_thread::get_id();
      its_stream = &work.stream;
      its_shape = work.moving.shape();
      CHECK(work.is_alone);
      return std::vector<int>{input, 2 * input};
    });
    const std::atomic<bool> stop = false;
    helper.show(pair.stopped_by(stop));
    for (const int input : {3, 4}) {
      bool own_is_done = false;
      CHECK(helper.beside(input, [&] { own_is_done = true; }) == std::vector{input, 2 * input});
      CHECK(own_is_done);
      CHECK(its_thread != std::this_thread::get_id());
      CHECK(its_stream != &pair.stream);
      CHECK(its_shape == shape);
    }
  });
}

TEST_CASE("search helper: an error of either part is thrown when both have ended") {
  test::on_every_device([](const warpalign::Device& device) {
    Pair pair(device);
    std::atomic<bool> may_go_on = false;
    std::atomic<int> ended = 0;
    Helper helper(device, [&](const detail::PairWork& /*work*/, int input) {
      while (!may_go_on) std::this_thread::yield();
      ++ended;
      if (input == 0) throw std::runtime_error("of the helper");
      return std::vector<int>{input};
    });
    const std::atomic<bool> stop = false;
    helper.show(pair.stopped_by(stop));
    const auto let_it_go_on = [&] { may_go_on = true; };
    CHECK_THROWS_WITH(static_cast<void>(helper.beside(0, let_it_go_on)), "of the helper");
    CHECK(ended == 1);
    may_go_on = false;
    CHECK_THROWS_WITH(static_cast<void>(helper.beside(1,
                                                      [&] {
                                                        may_go_on = true;
                                                        throw std::runtime_error("of the caller");
                                                      })),
                      "of the caller");
    CHECK(ended == 2);  // what it uses may go now
    CHECK(helper.beside(5, let_it_go_on) == std::vector{5});
  });
}

TEST_CASE("search helper: what is not wanted any more leaves nothing enqueued") {
  test::on_every_device([](const warpalign::Device& device) {
    Pair pair(device);
    std::atomic<bool> stop = false;
    Helper helper(device, [&](const detail::PairWork& work, int /*input*/) {
      static_cast<void>(work.moving.level(work.stream, work.clock, {2}));
      stop = true;
      CHECK(work.is_stopped());
      return std::vector<int>{};
    });
    helper.show(pair.stopped_by(stop));
    CHECK(helper.beside(1, [] {}).empty());
  });
}
