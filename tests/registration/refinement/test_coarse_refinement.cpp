// The capture range of the refinement on coarse levels.
#include "registration/refinement/coarse_refinement.hpp"

#include "registration/refinement/orientation_refinement.hpp"
#include "registration/search/drawn_pair.hpp"
#include "support/corners.hpp"
#include "support/devices.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace {

namespace detail = warpalign::detail;
using detail::Candidate;
using detail::CoarseRefinement;
using detail::RefineFrom;
using warpalign::Affine;
using warpalign::Homography;
using warpalign::Motion;
using warpalign::Shape;
using warpalign::Similarity;

constexpr Shape shape{260, 240, 1};
constexpr Similarity truth{12, 1.1, {9, -6}};

Homography matrix_of(const Similarity& similarity) {
  return Homography(similarity.matrix(shape, shape));
}

/// A scene whose spots are twice as large as elsewhere in these tests.
class Pair : public test::DrawnPair {
 public:
  explicit Pair(const warpalign::Device& device) : DrawnPair(device, shape, shape), fitter(device) {
    const test::Spots scene(41, 600);
    const Homography to_scene(Affine{0.5, 0, 0, 0, 0.5, 0});
    upright = scene.drawn(shape, to_scene);
    turned = scene.drawn(shape, to_scene * matrix_of(truth).inverse());
    take(reference, upright);
    take(moving, turned);
  }
  std::vector<Candidate> refined(std::vector<Candidate> candidates, RefineFrom from,
                                 Motion motion = Motion::similarity, bool by_directions = false) {
    CoarseRefinement refinement(motion, fitter);
    refinement.refine(work(by_directions), candidates, from);
    return candidates;
  }
  Candidate refined(const Similarity& start, RefineFrom from) {
    return refined({at(start)}, from)[0];
  }
  static Candidate at(const Similarity& pose) {
    Candidate candidate;
    candidate.matrix = pose.matrix(shape, shape);
    return candidate;
  }

  detail::SimilarityFit fitter;
  std::vector<float> upright, turned;
};

double off(const Homography& found, const Homography& expected = matrix_of(truth)) {
  return test::max_corner_distance(found, expected, shape);
}

// Levels of 256 samples, of images drawn from a formula.
constexpr double tolerance = 0.1;

}  // namespace

TEST_CASE("coarse refinement: converges from one grid step and a few pixels away") {
  test::on_every_device([](const warpalign::Device& device) {
    Pair pair(device);
    for (const double side : {-1.0, 1.0}) {
      CAPTURE(side);
      const double wide = std::exp(side * 0.5 * std::log(1.25));
      const Candidate from_grid = pair.refined(
          {12 + 2 * side, 1.1 * wide, {9 - 3 * side, -6 + 2 * side}}, RefineFrom::grid);
      CHECK(off(Homography(from_grid.matrix)) <= tolerance);
      CHECK(from_grid.correlation > 0.95);
      CHECK(from_grid.significance > 64);
      const Candidate from_peak =
          pair.refined({12 + 0.5 * side, 1.1 + 0.01 * side, {9 + 3 * side, -6 - 2 * side}},
                       RefineFrom::log_polar);
      CHECK(off(Homography(from_peak.matrix)) <= tolerance);
      CHECK(from_peak.significance > 64);
      CHECK(from_peak.overlap == doctest::Approx(from_grid.overlap).epsilon(0.01));
    }
  });
}

TEST_CASE("coarse refinement: a batch gives the results of single fits, and reports failures") {
  test::on_every_device([](const warpalign::Device& device) {
    Pair pair(device);
    std::vector<Candidate> all;
    for (const Similarity& start : {Similarity{13, 1.12, {10, -5}}, Similarity{100, 0.9, {0, 0}},
                                    Similarity{11, 1.08, {8, -7}}, Similarity{12, 2.2, {9, -6}},
                                    Similarity{12.5, 1.1, {9, -6}}, Similarity{-60, 0.5, {5, 5}}}) {
      all.push_back(Pair::at(start));
    }
    const auto together = pair.refined(all, RefineFrom::log_polar);
    for (std::size_t i = 0; i < all.size(); ++i) {
      CAPTURE(i);
      const Candidate alone = pair.refined({all[i]}, RefineFrom::log_polar)[0];
      CHECK(off(Homography(together[i].matrix), Homography(alone.matrix)) <= 0.02);
      CHECK(together[i].significance == doctest::Approx(alone.significance).epsilon(1e-2));
      const bool right = i == 0 || i == 2 || i == 4;
      CHECK((off(Homography(together[i].matrix)) <= tolerance) == right);
      CHECK((together[i].significance > 64) == right);
    }
  });
}

TEST_CASE("coarse refinement: fixed parameters stay, for orientations as for intensities") {
  test::on_every_device([](const warpalign::Device& device) {
    Pair pair(device);
    const Candidate start = Pair::at({12.4, 1.1, {10, -5}});
    const Candidate rigid = pair.refined({start}, RefineFrom::log_polar, Motion::rigid)[0];
    const auto pose = Similarity::of(rigid.matrix, shape, shape);
    CHECK(pose.scale == doctest::Approx(1.1).epsilon(1e-9));
    CHECK(off(Homography(rigid.matrix)) <= tolerance);
    const Candidate shifted = pair.refined({start}, RefineFrom::log_polar, Motion::translation)[0];
    CHECK(Similarity::of(shifted.matrix, shape, shape).rotation_deg == doctest::Approx(12.4));
    std::vector<float> negative = pair.turned;
    for (float& value : negative) value = -value;
    pair.take(pair.moving, negative);
    const Candidate by_directions =
        pair.refined({start}, RefineFrom::log_polar, Motion::similarity, true)[0];
    CHECK(off(Homography(by_directions.matrix)) <= 0.4);
    CHECK(by_directions.correlation > 0.9);
  });
}

TEST_CASE("coarse refinement: gradient orientations on finer levels, with every motion") {
  test::on_every_device([](const warpalign::Device& device) {
    Pair pair(device);
    std::vector<float> negative = pair.turned;
    for (float& value : negative) value = 5 - 3 * value;
    pair.take(pair.moving, negative);
    const Affine near = Similarity{12.3, 1.105, {9.8, -5.4}}.matrix(shape, shape);
    for (const Motion motion : {Motion::similarity, Motion::affine, Motion::homography}) {
      CAPTURE(static_cast<int>(motion));
      const auto found = detail::refine_by_orientation(pair.work(true), pair.fitter, motion, near,
                                                       Homography(near));
      REQUIRE(found.has_value());
      CHECK(off(*found) <= 0.3);
    }
    // The same with exchanged images, hence with the other fit direction.
    pair.take(pair.reference, negative);
    pair.take(pair.moving, pair.upright);
    const auto back =
        detail::refine_by_orientation(pair.work(true), pair.fitter, Motion::similarity,
                                      near.inverse(), Homography(near.inverse()));
    REQUIRE(back.has_value());
    CHECK(off(*back, matrix_of(truth).inverse()) <= 0.3);
    // From far away it may end anywhere, or fail.
    const Affine far = Similarity{70, 1.1, {30, -20}}.matrix(shape, shape);
    const auto from_far = detail::refine_by_orientation(pair.work(true), pair.fitter,
                                                        Motion::homography, far, Homography(far));
    CHECK((!from_far || off(*from_far) > 10));
  });
}

TEST_CASE("coarse refinement: a candidate converges from nearby, and from nowhere else") {
  test::on_every_device([](const warpalign::Device& device) {
    // The spots are so large that an unlimited fit would converge from anywhere.
    Pair pair(device);
    const auto large =
        test::Spots(43, 600).drawn(shape, Homography(Affine{0.08, 0, 20, 0, 0.08, 20}));
    pair.take(pair.reference, large);
    pair.take(pair.moving, large);
    const double side = 260;
    const auto beside = [&](double part) { return Similarity{0, 1, {part * side, -0.02 * side}}; };
    // Up to a seventh of the larger side, which is far more than the error of a peak of the
    // search.
    for (const double part : {0.05, 0.1, 0.14}) {
      CAPTURE(part);
      const Candidate found = pair.refined(beside(part), RefineFrom::log_polar);
      CHECK(off(Homography(found.matrix), Homography()) <= tolerance);
      CHECK(found.correlation > 0.99);
    }
    // A start farther off is another candidate. It must stay where it is and be scored there;
    // otherwise all candidates could converge to the same pose.
    for (const double part : {0.16, 0.2, 0.25}) {
      CAPTURE(part);
      const Candidate found = pair.refined(beside(part), RefineFrom::log_polar);
      CHECK(off(Homography(found.matrix), matrix_of(beside(part))) <= 0.08 * side);
      CHECK(found.correlation < 0.9);
    }
  });
}

// The last level fits at most sixteen candidates.
TEST_CASE("coarse refinement: the worst of many candidates are dropped, and none of few") {
  test::on_every_device([](const warpalign::Device& device) {
    Pair pair(device);
    std::vector<Candidate> starts;
    for (int i = 0; i < 19; ++i) {
      starts.push_back(Pair::at({40.0 + 15 * i, 1.1, {3.0 * i - 30, 25.0 - 2 * i}}));
    }
    starts.insert(starts.begin() + 11, Pair::at({13, 1.08, {10, -5}}));
    const auto found = pair.refined(starts, RefineFrom::log_polar);
    CHECK(found.size() == 16);
    const auto best = std::max_element(
        found.begin(), found.end(),
        [](const Candidate& a, const Candidate& b) { return a.significance < b.significance; });
    CHECK(off(Homography(best->matrix)) <= tolerance);
    starts.resize(16);
    CHECK(pair.refined(starts, RefineFrom::log_polar).size() == 16);
  });
}
