// Parts of a search that begin on threads of their own before it is known whether they are needed.
#include "registration/search/drawn_pair.hpp"
#include "registration/search/pair_search.hpp"
#include "registration/tasks/ahead.hpp"
#include "registration/tasks/range_workers.hpp"
#include "support/corners.hpp"
#include "support/devices.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

namespace detail = warpalign::detail;
using detail::Ahead;
using detail::RangeWorkers;
using warpalign::Homography;
using warpalign::Modality;
using warpalign::Motion;
using warpalign::RegistrationOptions;
using warpalign::Shape;
using warpalign::Similarity;

constexpr Shape shape{80, 72, 1};

enum class Shows { the_same, another_scene, a_negative };

void draw(test::DrawnPair& pair, Shows shows) {
  const test::Spots scene(3, 250);
  const Homography truth(Similarity{14, 1.1, {5, -4}}.matrix(shape, shape));
  const Homography to_scene = Homography(warpalign::Affine::translation(20, 20)) * truth.inverse();
  pair.draw(scene, truth);
  if (shows == Shows::another_scene) {
    pair.take(pair.moving, test::Spots(8, 250).drawn(shape, to_scene));
  }
  if (shows == Shows::a_negative) {
    std::vector<float> pixels = scene.drawn(shape, to_scene);
    for (float& pixel : pixels) pixel = -pixel;
    pair.take(pair.moving, pixels);
  }
}

/// Narrow, so that a search is quick.
RegistrationOptions about_the_truth(Motion motion) {
  RegistrationOptions options;
  options.motion = motion;
  options.modality = Modality::automatic;
  options.min_scale = 0.85, options.max_scale = 1.4;
  options.min_angle = -30, options.max_angle = 40;
  return options;
}

void check_same(std::span<const detail::Candidate> a, std::span<const detail::Candidate> b) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    CHECK(test::max_corner_distance(Homography(a[i].matrix), Homography(b[i].matrix), shape) == 0);
    CHECK(a[i].significance == b[i].significance);
    CHECK(a[i].confidence() == b[i].confidence());
    CHECK(a[i].proposed_by == b[i].proposed_by);
  }
}

}  // namespace

// What no pair has needed begins ahead of none: the first pair is searched in turn by both.
TEST_CASE("search ahead: parts that begin ahead change no result") {
  test::on_every_device([&](const warpalign::Device& device) {
    for (const Motion motion : {Motion::similarity, Motion::automatic}) {
      const RegistrationOptions options = about_the_truth(motion);
      detail::PairSearch in_turn(device, options, false);
      detail::PairSearch ahead(device, options, true);
      for (const Shows shows :
           {Shows::another_scene, Shows::a_negative, Shows::another_scene, Shows::the_same}) {
        test::DrawnPair pair(device, shape, shape);
        draw(pair, shows);
        const auto run = [&](detail::PairSearch& search) {
          return search.run(pair.stream, pair.clock, pair.reference, pair.moving);
        };
        CAPTURE(static_cast<int>(shows));
        check_same(run(in_turn), run(ahead));
      }
    }
  });
}

TEST_CASE(
    "ahead: work is done once for each beginning, and what it throws is thrown where it is waited "
    "for") {
  int done = 0;
  bool fails = false;
  Ahead ahead([&] {
    ++done;
    if (fails) throw std::runtime_error("as it is to");
  });
  CHECK_FALSE(ahead.begun());
  for (int i = 1; i <= 3; ++i) {
    ahead.begin();
    CHECK(ahead.begun());
    ahead.wait();
    CHECK_FALSE(ahead.begun());
    CHECK(done == i);
  }
  fails = true;
  ahead.begin();
  CHECK_THROWS_AS(ahead.wait(), std::runtime_error);
  ahead.begin();
  ahead.drop();  // nobody's
  fails = false;
  ahead.begin();
  CHECK_NOTHROW(ahead.wait());
  CHECK(done == 6);
}

TEST_CASE("ahead: work that is dropped is asked to stop, and has ended afterwards") {
  std::atomic<bool> ended{false};
  Ahead* self = nullptr;
  Ahead ahead([&] {
    while (!self->stop()) std::this_thread::yield();
    ended = true;
  });
  self = &ahead;
  for (int i = 0; i < 3; ++i) {
    ended = false;
    ahead.begin();
    ahead.drop();
    CHECK(ended);
    CHECK_FALSE(ahead.begun());
  }
  ahead.begin();  // and its end drops it
}

TEST_CASE("range workers: parts cover a range, and what one throws is thrown") {
  RangeWorkers workers(3);
  for (const std::size_t end : {5, 6, 7, 100, 1005}) {
    CAPTURE(end);
    std::vector<int> times(end, 0);
    workers.share(5, end, [&](std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i) ++times[i];
    });
    for (std::size_t i = 0; i < end; ++i) CHECK(times[i] == (i < 5 ? 0 : 1));
  }
  for (const std::size_t bad : {0, 50, 99}) {
    const auto work = [&](std::size_t first, std::size_t end) {
      if (first <= bad && bad < end) throw std::runtime_error("as it is to");
    };
    CHECK_THROWS_AS(workers.share(0, 100, work), std::runtime_error);
  }
  CHECK_NOTHROW(workers.share(0, 100, [](std::size_t, std::size_t) {}));
}
