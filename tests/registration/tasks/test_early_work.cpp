// Parts of a search that start early on their own threads, before it is known whether they are
// needed.
#include "registration/search/drawn_pair.hpp"
#include "registration/search/pair_search.hpp"
#include "registration/tasks/background_task.hpp"
#include "registration/tasks/parallel_for.hpp"
#include "support/corners.hpp"
#include "support/devices.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

namespace detail = warpalign::detail;
using detail::BackgroundTask;
using detail::ParallelFor;
using detail::ThreadBudget;
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

/// Narrow limits, so that a search is quick.
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

int threads_of_this_process() {
  int threads = 0;
  for ([[maybe_unused]] const auto& entry :
       std::filesystem::directory_iterator("/proc/self/task")) {
    ++threads;
  }
  return threads;
}

}  // namespace

// Both search in the same order, so that neither has a history of earlier pairs before the first
// one.
TEST_CASE("early work: results do not depend on the number of threads") {
  test::on_every_device([&](const warpalign::Device& device) {
    for (const Motion motion : {Motion::similarity, Motion::automatic}) {
      const RegistrationOptions options = about_the_truth(motion);
      detail::PairSearch in_turn(device, options, 0);
      detail::PairSearch by_two(device, options, 1);
      detail::PairSearch by_many(device, options, 15);
      for (const Shows shows :
           {Shows::another_scene, Shows::a_negative, Shows::another_scene, Shows::the_same}) {
        test::DrawnPair pair(device, shape, shape);
        draw(pair, shows);
        const auto run = [&](detail::PairSearch& search) {
          return search.run(pair.stream, pair.clock, pair.reference, pair.moving);
        };
        CAPTURE(static_cast<int>(shows));
        const auto expected = run(in_turn);
        check_same(run(by_two), expected);
        check_same(run(by_many), expected);
      }
    }
  });
}

TEST_CASE("early work: a search starts at most the allowed number of threads") {
  test::on_every_device([&](const warpalign::Device& device) {
    const RegistrationOptions options = about_the_truth(Motion::automatic);
    for (const int most : {0, 1, 4}) {
      detail::PairSearch search(device, options, most);
      // OpenCL drivers start their own threads, which exist after the first pair.
      int before = 0;
      for (int time = 0; time < 3; ++time) {
        test::DrawnPair pair(device, shape, shape);
        draw(pair, Shows::another_scene);
        if (time == 0) {
          detail::PairSearch alone(device, options, 0);
          alone.run(pair.stream, pair.clock, pair.reference, pair.moving);
          before = threads_of_this_process();
        }
        search.run(pair.stream, pair.clock, pair.reference, pair.moving);
      }
      CAPTURE(most);
      CHECK(threads_of_this_process() - before == most);
    }
  });
}

TEST_CASE("background task: each run does its work once, and wait() rethrows its exception") {
  ThreadBudget threads(1);
  int done = 0;
  bool fails = false;
  BackgroundTask task(&threads, [&] {
    ++done;
    if (fails) throw std::runtime_error("as it is to");
  });
  CHECK_FALSE(task.has_begun());
  for (int i = 1; i <= 3; ++i) {
    task.begin();
    CHECK(task.has_begun());
    task.wait();
    CHECK_FALSE(task.has_begun());
    CHECK(done == i);
  }
  fails = true;
  task.begin();
  CHECK_THROWS_AS(task.wait(), std::runtime_error);
  task.begin();
  task.cancel();  // discards the exception
  fails = false;
  task.begin();
  CHECK_NOTHROW(task.wait());
  CHECK(done == 6);
}

TEST_CASE("background task: without a free thread nothing starts") {
  ThreadBudget none(0);
  BackgroundTask task(&none, [] { FAIL("on no thread"); });
  task.begin();
  CHECK_FALSE(task.has_begun());
  ThreadBudget one(1);
  {
    BackgroundTask holder(&one, [] {});
    holder.prepare();
    CHECK_FALSE(one.take());
  }
  CHECK(one.take());  // the task has returned it
}

TEST_CASE("background task: a cancelled run is asked to stop, and has ended afterwards") {
  std::atomic<bool> ended{false};
  BackgroundTask* self = nullptr;
  ThreadBudget threads(1);
  BackgroundTask task(&threads, [&] {
    while (!self->cancelled()) std::this_thread::yield();
    ended = true;
  });
  self = &task;
  for (int i = 0; i < 3; ++i) {
    ended = false;
    task.begin();
    task.cancel();
    CHECK(ended);
    CHECK_FALSE(task.has_begun());
  }
  task.begin();  // whose destructor cancels it
}

TEST_CASE("parallel for: parts cover the range, and an exception is rethrown") {
  ThreadBudget threads(3);
  ParallelFor loop(&threads, 3);
  for (const std::size_t end : {5, 6, 7, 100, 1005}) {
    CAPTURE(end);
    std::vector<int> times(end, 0);
    loop.run(5, end, [&](std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i) ++times[i];
    });
    for (std::size_t i = 0; i < end; ++i) CHECK(times[i] == (i < 5 ? 0 : 1));
  }
  for (const std::size_t bad : {0, 50, 99}) {
    const auto work = [&](std::size_t first, std::size_t end) {
      if (first <= bad && bad < end) throw std::runtime_error("as it is to");
    };
    CHECK_THROWS_AS(loop.run(0, 100, work), std::runtime_error);
  }
  CHECK_NOTHROW(loop.run(0, 100, [](std::size_t, std::size_t) {}));
}
