// The search over a grid of rotations and scales, on drawn images.
#include "registration/proposers/grid_search.hpp"

#include "registration/numerics/plane_geometry.hpp"
#include "registration/numerics/transform_distance.hpp"
#include "registration/search/drawn_pair.hpp"
#include "support/corners.hpp"
#include "support/devices.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <vector>

namespace {

namespace detail = warpalign::detail;
using detail::GridSearch;
using detail::TranslationPeak;
using warpalign::Homography;
using warpalign::Motion;
using warpalign::RegistrationOptions;
using warpalign::Shape;
using warpalign::Similarity;

constexpr Shape shape{100, 90, 1};

class Pair : public test::DrawnPair {
 public:
  explicit Pair(const warpalign::Device& device)
      : DrawnPair(device, shape, shape), device_(device) {}

  // Draws the moving image as a negative.
  void draw_reversed(const test::Spots& scene, const Homography& truth) {
    draw(scene, truth, {10, 15});
    std::vector<float> negative =
        scene.drawn(shape, Homography(warpalign::Affine::translation(10, 15)) * truth.inverse());
    for (float& value : negative) value = -value;
    take(moving, negative);
  }

  std::vector<TranslationPeak> find(const RegistrationOptions& options, std::size_t maximum,
                                    bool by_directions = false) {
    GridSearch search(device_, options, detail::standard_grid, signal_of(by_directions));
    const auto found = search.find(work(by_directions), maximum);
    return {found.begin(), found.end()};
  }

  /// The same with three threads.
  std::vector<TranslationPeak> find_with_threads(const RegistrationOptions& options,
                                                 std::size_t maximum, bool by_directions,
                                                 bool is_stopped = false) {
    GridSearch search(device_, options, detail::standard_grid, signal_of(by_directions));
    detail::ThreadBudget threads(2);
    const std::atomic<bool> cancelled = is_stopped;
    const auto found = search.find(shared_work(threads, &cancelled, by_directions), maximum);
    return {found.begin(), found.end()};
  }

 private:
  static detail::SignalKind signal_of(bool by_directions) {
    return by_directions ? detail::SignalKind::orientation : detail::SignalKind::intensity;
  }

  warpalign::Device device_;
};

double off(const TranslationPeak& peak, const Homography& truth) {
  return test::max_corner_distance(Homography(peak.matrix), truth, shape);
}

RegistrationOptions about(const Similarity& similarity) {
  RegistrationOptions options;
  options.min_angle = similarity.rotation_deg - 7;
  options.max_angle = similarity.rotation_deg + 7;
  options.min_scale = similarity.scale / 1.2;
  options.max_scale = similarity.scale * 1.2;
  return options;
}

}  // namespace

TEST_CASE("grid search: the best candidate is within half a step of the truth") {
  test::on_every_device([](const warpalign::Device& device) {
    Pair pair(device);
    const test::Spots scene(12, 700);
    // Moderate and strong scales, and rotations on both sides of half a turn.
    for (const Similarity& truth :
         {Similarity{-21, 1.1, {4, -3}}, Similarity{171, 0.85, {-3, 5}},
          Similarity{33, 3.4, {2, 3}}, Similarity{-100, 1 / 3.4, {1, 2}}}) {
      CAPTURE(truth.rotation_deg);
      const Homography matrix(truth.matrix(shape, shape));
      pair.draw(scene, matrix, {10, 15});
      const auto found = pair.find(about(truth), 4);
      REQUIRE_FALSE(found.empty());
      CHECK(found.size() <= 4);
      const auto pose = Similarity::of(found[0].matrix, shape, shape);
      // A step is 4.25 degrees.
      CHECK(std::abs(std::remainder(pose.rotation_deg - truth.rotation_deg, 360)) <= 2.1);
      CHECK(std::abs(std::log(pose.scale / truth.scale)) <= 0.52 * std::log(1.25));
      CHECK(off(found[0], matrix) <= 0.08 * 100 * std::max(truth.scale, 1.0));
      CHECK(found[0].score > 4);
    }
  });
}

TEST_CASE(
    "grid search: candidates are sorted, distinct, within the limits, and at most as many as "
    "requested") {
  test::on_every_device([](const warpalign::Device& device) {
    Pair pair(device);
    const Similarity truth{15, 1.1, {4, -3}};
    pair.draw(test::Spots(13, 700), Homography(truth.matrix(shape, shape)), {10, 15});
    RegistrationOptions options = about(truth);
    options.max_shift = 20;
    for (const bool by_directions : {false, true}) {
      CAPTURE(by_directions);
      const auto found = pair.find(options, 8, by_directions);
      CHECK(found.size() >= 4);
      CHECK(found.size() <= 8);
      for (std::size_t i = 0; i < found.size(); ++i) {
        const auto pose = Similarity::of(found[i].matrix, shape, shape);
        // Half a step beyond the limits, plus as much for the interpolation between steps.
        CHECK(std::abs(std::remainder(pose.rotation_deg - 15, 360)) <= 7 + 4 + 0.01);
        CHECK(pose.scale > 1.1 / 1.2 / 1.13);
        CHECK(pose.scale < 1.1 * 1.2 * 1.13);
        CHECK(std::hypot(pose.translation.x, pose.translation.y) <= 20 + 2);
        for (std::size_t j = 0; j < i; ++j) {
          // Orientation candidates are sorted relative to the scores at their scale.
          if (!by_directions) CHECK(found[j].score >= found[i].score);
          CHECK(detail::corner_distance(found[j].matrix, found[i].matrix, shape) >= 8);
        }
      }
      const auto fewer = pair.find(options, 3, by_directions);
      REQUIRE(fewer.size() == 3);
      for (std::size_t i = 0; i < 3; ++i) CHECK(fewer[i].score == found[i].score);
    }
  });
}

TEST_CASE("grid search: parameters that the motion fixes are not searched") {
  test::on_every_device([](const warpalign::Device& device) {
    Pair pair(device);
    pair.draw(test::Spots(14, 700), Homography(Similarity{9, 1, {4, -3}}.matrix(shape, shape)),
              {10, 15});
    RegistrationOptions options;
    options.motion = Motion::rigid;
    options.min_angle = 0, options.max_angle = 20;
    for (const TranslationPeak& peak : pair.find(options, 6)) {
      CHECK(detail::scale_of(peak.matrix) == doctest::Approx(1));
    }
    options.motion = Motion::translation;
    options.min_angle = -180, options.max_angle = 180;
    const auto shifts = pair.find(options, 4, true);
    REQUIRE_FALSE(shifts.empty());
    for (const TranslationPeak& peak : shifts) {
      CHECK(std::abs(peak.matrix.a) == doctest::Approx(1));
    }
  });
}

TEST_CASE("grid search: gradient orientations find images with reversed contrast") {
  test::on_every_device([](const warpalign::Device& device) {
    Pair pair(device);
    const test::Spots scene(15, 700);
    for (const Similarity& truth :
         {Similarity{-22, 1.02, {4, -3}}, Similarity{150, 1.22, {-3, 4}}}) {
      CAPTURE(truth.rotation_deg);
      const Homography matrix(truth.matrix(shape, shape));
      pair.draw_reversed(scene, matrix);
      const auto found = pair.find(about(truth), 4, true);
      REQUIRE_FALSE(found.empty());
      CHECK(off(found[0], matrix) <= 8);
      CHECK(found[0].score > 8);
    }
  });
}

// So many poses that the search compares small frames first.
TEST_CASE("grid search: gradient orientations, over all rotations and scales") {
  test::on_every_device([](const warpalign::Device& device) {
    Pair pair(device);
    const test::Spots scene(20, 700);
    for (const Similarity& truth :
         {Similarity{-64.5, 0.9, {5, -4}}, Similarity{101, 1.6, {-3, 4}}}) {
      CAPTURE(truth.rotation_deg);
      const Homography matrix(truth.matrix(shape, shape));
      pair.draw_reversed(scene, matrix);
      const auto found = pair.find({}, 4, true);
      REQUIRE_FALSE(found.empty());
      CHECK(off(found[0], matrix) <= 8 * std::max(truth.scale, 1.0));
      CHECK(found[0].score > 8);
    }
  });
}

TEST_CASE("grid search: several threads find the same as one") {
  test::on_every_device([](const warpalign::Device& device) {
    Pair pair(device);
    const test::Spots scene(20, 700);
    for (const bool by_directions : {false, true}) {
      CAPTURE(by_directions);
      const Similarity truth{71, 1.3, {4, -3}};
      pair.draw_reversed(scene, Homography(truth.matrix(shape, shape)));
      const RegistrationOptions options = about(truth);
      const auto expected = pair.find(options, 8, by_directions);
      const auto found = pair.find_with_threads(options, 8, by_directions);
      REQUIRE(found.size() == expected.size());
      for (std::size_t i = 0; i < found.size(); ++i) {
        CHECK(Homography(found[i].matrix).h == Homography(expected[i].matrix).h);
        CHECK(found[i].score == expected[i].score);
      }
      // A cancelled search ends early, with any result.
      CHECK(pair.find_with_threads(options, 8, by_directions, true).size() <= 8);
    }
  });
}

TEST_CASE("grid search: gradient orientations are compared between the steps, too") {
  test::on_every_device([](const warpalign::Device& device) {
    Pair pair(device);
    // The rotation and the scale are half a step from the nearest point of the grid.
    const Similarity truth{-22, std::sqrt(1.25), {4, -3}};
    const Homography matrix(truth.matrix(shape, shape));
    pair.draw(test::Spots(16, 700), matrix, {10, 15});
    const auto found = pair.find(about(truth), 4, true);
    REQUIRE_FALSE(found.empty());
    const auto pose = Similarity::of(found[0].matrix, shape, shape);
    CHECK(std::abs(std::remainder(pose.rotation_deg - truth.rotation_deg, 360)) <= 1);
    CHECK(std::abs(std::log(pose.scale / truth.scale)) <= 0.25 * std::log(1.25));
  });
}

TEST_CASE("grid search: gradient orientations under strong zoom") {
  test::on_every_device([](const warpalign::Device& device) {
    Pair pair(device);
    // Scales four times as large and as small.
    for (const Similarity& truth : {Similarity{36, 4, {6, -5}}, Similarity{-60, 0.25, {2, 3}}}) {
      CAPTURE(truth.scale);
      const Homography matrix(truth.matrix(shape, shape));
      pair.draw(test::Spots(19, 1500), matrix, {10, 15});
      RegistrationOptions options;
      options.min_scale = truth.scale / 2, options.max_scale = truth.scale * 2;
      const auto found = pair.find(options, 8, true);
      const auto nearest = std::min_element(
          found.begin(), found.end(),
          [&](const auto& a, const auto& b) { return off(a, matrix) < off(b, matrix); });
      REQUIRE(nearest != found.end());
      CHECK(off(*nearest, matrix) <= 8 * std::max(truth.scale, 1.0));
    }
  });
}

TEST_CASE("grid search: gradient orientations give candidates at several scales") {
  test::on_every_device([](const warpalign::Device& device) {
    Pair pair(device);
    const Homography to_scene(warpalign::Affine::translation(10, 15));
    pair.take(pair.reference, test::Spots(17, 700).drawn(shape, to_scene));
    pair.take(pair.moving, test::Spots(18, 700).drawn(shape, to_scene));
    // Spots are smooth at scales of about 1, where they score twice as high as at other scales.
    const auto found = pair.find({}, 12, true);
    REQUIRE(found.size() == 12);
    const auto strong = std::count_if(found.begin(), found.end(), [](const auto& peak) {
      const double scale = detail::scale_of(peak.matrix);
      return std::max(scale, 1 / scale) > 2;
    });
    CHECK(strong >= 4);
    CHECK(strong <= 10);
  });
}
