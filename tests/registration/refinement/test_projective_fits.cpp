// Fits of affine transforms and homographies to drawn pairs, starting from similarities and from
// patches.
#include "registration/refinement/projective_fits.hpp"
#include "registration/refinement/projective_refinement.hpp"

#include "registration/search/drawn_pair.hpp"
#include "support/corners.hpp"
#include "support/devices.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <optional>
#include <vector>

namespace {

namespace detail = warpalign::detail;
using detail::Candidate;
using warpalign::Affine;
using warpalign::Homography;
using warpalign::Motion;
using warpalign::Point;
using warpalign::Shape;
using warpalign::Similarity;

constexpr Shape shape{120, 110, 1};

/// The transform relative to the centre of both images.
Homography about_centre(const Homography& m) {
  const Point c = warpalign::centre_of(shape);
  return Homography(Affine::translation(c.x, c.y)) * m * Affine::translation(-c.x, -c.y);
}

class Pair : public test::DrawnPair {
 public:
  explicit Pair(const warpalign::Device& device)
      : DrawnPair(device, shape, shape),
        fitter(device),
        one_by_one(false),
        together(true),
        models(device),
        refinement(device) {}

  void show(const Homography& truth) { draw(test::Spots(9), truth, {0, 0}); }
  /// A candidate as the search would propose it, fitted with `motion`.
  Candidate fitted(Motion motion, const Similarity& start) {
    Candidate candidate;
    candidate.matrix = start.matrix(shape, shape);
    one_by_one.fit(work(), fitter, motion, {&candidate, 1});
    return candidate;
  }
  std::optional<Candidate> by_windows(const Homography& start) {
    const auto found = one_by_one.fit_from_patches(work(), fitter, {&start, 1});
    return found.empty() ? std::nullopt : std::optional(found.front());
  }

  detail::SimilarityFit fitter;
  detail::ProjectiveFits one_by_one,
      together;  ///< by the order in which fits start from finer levels
  detail::ProjectiveRefinement models;
  detail::Refinement refinement;
};

double off(const Homography& found, const Homography& truth) {
  return test::max_corner_distance(found, truth, shape);
}

// Levels of at most 128 samples, of images drawn from a formula: tenths of a pixel, which the
// refinement turns into hundredths.
constexpr double coarse_tolerance = 0.5;
constexpr double refined_tolerance = 0.05;

const Homography tilted = Homography(Similarity{4, 1.05, {2, -1}}.matrix(shape, shape)) *
                          test::moving_corners(shape, {{{5, -3}, {-4, 3}, {4, 5}, {-3, -4}}});
const Homography sheared = about_centre(Affine{1.1, 0.08, 2, -0.03, 0.95, -1});

}  // namespace

TEST_CASE("higher-DOF fits: converge from a similarity near the truth, and are refined") {
  test::on_every_device([](const warpalign::Device& device) {
    Pair pair(device);
    struct Case {
      Motion motion;
      Homography truth;
      double scale;
    };
    // The last cases exchange the images' fit direction.
    for (const Case& one :
         {Case{Motion::affine, sheared, 1.02}, Case{Motion::homography, tilted, 1.05},
          Case{Motion::affine, sheared.inverse(), 0.98},
          Case{Motion::homography, tilted.inverse(), 0.95}}) {
      CAPTURE(static_cast<int>(one.motion));
      pair.show(one.truth);
      const double degrees = one.motion == Motion::affine ? 0 : one.scale > 1 ? 4 : -4;
      const Similarity start{degrees, one.scale, {one.scale > 1 ? 2.0 : -2.0, 0}};
      Candidate found = pair.fitted(one.motion, start);
      REQUIRE(found.motion == one.motion);
      CHECK(off(found.richer, one.truth) <= coarse_tolerance);
      CHECK(found.correlation > 0.95);
      CHECK(found.significance > 40);
      CHECK(found.overlap > 0.7);
      // The search's own pose is kept.
      CHECK(off(Homography(found.matrix), Homography(start.matrix(shape, shape))) <= 1e-9);
      pair.models.refine(pair.work(), pair.fitter, pair.refinement, found);
      CHECK(found.refined);
      CHECK(off(found.richer, one.truth) <= refined_tolerance);
      CHECK(detail::transform_of(found).h == found.richer.h);
    }
  });
}

TEST_CASE("higher-DOF fits: a candidate whose fit fails is left unchanged") {
  test::on_every_device([](const warpalign::Device& device) {
    Pair pair(device);
    pair.show(tilted);
    Candidate wrong;
    wrong.matrix = Similarity{130, 1.1, {9, -7}}.matrix(shape, shape);
    wrong.significance = 3;
    // It is fitted in one call with a right one.
    std::vector<Candidate> candidates{wrong, wrong, wrong};
    candidates[1].matrix = Similarity{4, 1.05, {2, -1}}.matrix(shape, shape);
    pair.one_by_one.fit(pair.work(), pair.fitter, Motion::homography, candidates);
    CHECK(candidates[1].motion == Motion::homography);
    CHECK(off(candidates[1].richer, tilted) <= coarse_tolerance);
    for (const std::size_t i : {0U, 2U}) {
      // A fit that ends has no pose that matches.
      if (candidates[i].motion == Motion::similarity) {
        CHECK(candidates[i].significance == 3);
      } else {
        CHECK(candidates[i].significance < 0.3 * candidates[1].significance);
      }
    }
    CHECK(off(detail::transform_of(wrong), Homography(wrong.matrix)) == 0);
  });
}

// The result of an attempt from one level does not depend on the other attempts, and later
// attempts count under the same conditions. On devices that keep fits resident, results are
// identical.
TEST_CASE("higher-DOF fits: attempts from all levels at once equal those in sequence") {
  test::on_every_device([](const warpalign::Device& device) {
    Pair pair(device);
    pair.show(tilted);
    const auto near_and_far = [](std::size_t count) {
      std::vector<Candidate> candidates(count);
      for (std::size_t i = 0; i < count; ++i) {
        const double off = 3.0 * static_cast<double>(i);
        candidates[i].matrix = Similarity{4 + 5 * off, 1.05, {2 + off, -1}}.matrix(shape, shape);
      }
      return candidates;
    };
    for (const Motion motion : {Motion::affine, Motion::homography}) {
      // Few candidates start from all levels at once, many from the first level alone.
      for (const std::size_t count : {1U, 3U, 6U}) {
        CAPTURE(count);
        std::vector<Candidate> expected = near_and_far(count);
        std::vector<Candidate> found = expected;
        pair.one_by_one.fit(pair.work(), pair.fitter, motion, expected);
        pair.together.fit(pair.work(), pair.fitter, motion, found);
        CHECK(expected[0].motion == motion);
        for (std::size_t i = 0; i < count; ++i) {
          CAPTURE(i);
          REQUIRE(found[i].motion == expected[i].motion);
          CHECK(found[i].significance == doctest::Approx(expected[i].significance).epsilon(1e-6));
          CHECK(off(found[i].richer, expected[i].richer) <= 1e-6);
        }
      }
    }
  });
}

TEST_CASE("higher-DOF fits: several homographies of patches are fitted in order, as each alone") {
  test::on_every_device([](const warpalign::Device& device) {
    Pair pair(device);
    pair.show(tilted);
    const Homography near = Homography(Affine::translation(0.8, -0.6)) * tilted;
    const Homography nearer = Homography(Affine::translation(-0.3, 0.4)) * tilted;
    const Homography mirrored = about_centre(Affine{-1, 0, 0, 0, 1, 0});
    const auto first = pair.by_windows(near);
    const auto last = pair.by_windows(nearer);
    REQUIRE(first.has_value());
    REQUIRE(last.has_value());
    const std::vector<Homography> starts{near, mirrored, nearer};
    const auto found = pair.together.fit_from_patches(pair.work(), pair.fitter, starts);
    REQUIRE(found.size() == 2);
    CHECK(off(found[0].richer, first->richer) <= 1e-6);
    CHECK(off(found[1].richer, last->richer) <= 1e-6);
  });
}

TEST_CASE(
    "higher-DOF fits: homographies of patches are fitted unless no view of a plane is like them") {
  test::on_every_device([](const warpalign::Device& device) {
    Pair pair(device);
    const auto stretched = [](double by) {
      return about_centre(Affine{std::sqrt(by), 0, 0, 0, 1 / std::sqrt(by), 0});
    };
    // The divisor along x changes by this fraction of its value at the centre, towards both sides.
    const auto perspective = [](double by) {
      return about_centre(Homography({1, 0, 0, 0, 1, 0, by / 59.5, 0, 1}));
    };
    const std::vector<Homography> plausible{tilted, stretched(3), perspective(0.3)};
    for (const Homography& truth : plausible) {
      pair.show(truth);
      const Homography start = Homography(Affine::translation(0.8, -0.6)) * truth;
      const auto found = pair.by_windows(start);
      REQUIRE(found.has_value());
      CHECK(found->proposed_by == warpalign::SearchMethod::patches);
      CHECK(found->motion == Motion::homography);
      CHECK(off(found->richer, truth) <= 4 * coarse_tolerance);
      CHECK(found->richer.h[8] == doctest::Approx(1));
      CHECK(found->significance > 20);
      // A common factor of the matrix does not matter.
      Homography in_units = start;
      for (double& value : in_units.h) value *= -7;
      const auto again = pair.by_windows(in_units);
      REQUIRE(again.has_value());
      CHECK(off(again->richer, found->richer) <= 1e-3);
    }
    // Mirrored; stretched more than sixfold; more than twelve times as fine on one side as on the
    // other: with divisors from 0.3 to 1.7 areas differ by their cubes, and the whole reference
    // lies in the image.
    const Homography mirrored = about_centre(Affine{-1, 0, 0, 0, 1, 0});
    const Homography slanted = about_centre(Affine{0.3, 0, 0, 0, 0.3, 0}) * perspective(0.7);
    for (const Homography& truth : {mirrored, stretched(8), slanted}) {
      pair.show(truth);
      CHECK_FALSE(pair.by_windows(truth).has_value());
    }
    // The horizon crosses the reference.
    pair.show(tilted);
    CHECK_FALSE(
        pair.by_windows(about_centre(Homography({1, 0, 0, 0, 1, 0, 1 / 40.0, 0, 1}))).has_value());
    // The reference does not overlap the moving image.
    CHECK_FALSE(pair.by_windows(Homography(Affine::translation(300, 0))).has_value());
  });
}

TEST_CASE("higher-DOF fits: a refinement that fails leaves the transform unchanged") {
  test::on_every_device([](const warpalign::Device& device) {
    Pair pair(device);
    pair.show(tilted);
    for (const bool by_directions : {false, true}) {
      for (const Motion motion : {Motion::affine, Motion::homography}) {
        CAPTURE(by_directions);
        Candidate wrong;
        wrong.matrix = Similarity{140, 1.1, {20, -17}}.matrix(shape, shape);
        wrong.motion = motion;
        wrong.richer = Homography(wrong.matrix);
        wrong.refined = true;
        pair.models.refine(pair.work(by_directions), pair.fitter, pair.refinement, wrong);
        if (!wrong.refined) CHECK(off(wrong.richer, Homography(wrong.matrix)) == 0);
        // No overlap with the other image.
        wrong.richer = Homography(Affine::translation(500, 0));
        pair.models.refine(pair.work(by_directions), pair.fitter, pair.refinement, wrong);
        CHECK_FALSE(wrong.refined);
        CHECK(wrong.richer.h[2] == 500);
      }
    }
    // Orientations and intensities converge to the same transform.
    Candidate near;
    near.matrix = Similarity{4, 1.05, {2, -1}}.matrix(shape, shape);
    near.motion = Motion::homography;
    near.richer = Homography(Affine::translation(0.5, 0.4)) * tilted;
    pair.models.refine(pair.work(true), pair.fitter, pair.refinement, near);
    CHECK(near.refined);
    CHECK(off(near.richer, tilted) <= 0.3);
  });
}

TEST_CASE("higher-DOF fits: more parameters explain better only if they are needed") {
  test::on_every_device([](const warpalign::Device& device) {
    Pair pair(device);
    Candidate simpler;
    simpler.matrix = Similarity{4, 1.05, {2, -1}}.matrix(shape, shape);
    Candidate richer = simpler;
    richer.motion = Motion::homography;
    for (const bool by_directions : {false, true}) {
      CAPTURE(by_directions);
      // The higher-DOF model is the truth, and the simpler one is off by pixels.
      pair.show(tilted);
      richer.richer = tilted;
      CHECK(pair.models.explains_better(pair.work(by_directions), simpler, richer, 4));
      // The simpler model is the truth.
      pair.show(Homography(simpler.matrix));
      CHECK_FALSE(pair.models.explains_better(pair.work(by_directions), simpler, richer, 4));
      // Both models are the same.
      richer.richer = Homography(simpler.matrix);
      richer.richer.h[6] = 1e-9;
      CHECK_FALSE(pair.models.explains_better(pair.work(by_directions), simpler, richer, 4));
    }
  });
}
