// From a candidate of the search to a model: its refinement, and the significance of a higher-DOF
// model. Here the test sets the candidate's significance, which the search would compute.
#include "registration/search/model_selection.hpp"

#include "registration/proposers/patch_proposer.hpp"
#include "registration/search/candidate_evaluator.hpp"
#include "registration/search/drawn_pair.hpp"
#include "support/corners.hpp"
#include "support/devices.hpp"
#include "support/noise.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace {

namespace detail = warpalign::detail;
using detail::Candidate;
using warpalign::Affine;
using warpalign::Homography;
using warpalign::Motion;
using warpalign::Point;
using warpalign::RegistrationOptions;
using warpalign::Shape;
using warpalign::Similarity;

constexpr Shape shape{120, 110, 1};

class Pair : public test::DrawnPair {
 public:
  explicit Pair(const warpalign::Device& device)
      : DrawnPair(device, shape, shape), fitter_(device), device_(device) {}

  void show(const Homography& truth) { draw(test::Spots(9), truth, {0, 0}); }
  /// Selects the model of one candidate, without patches, which have their own tests.
  Candidate chosen(const Candidate& start, Motion model, bool refine = true) {
    RegistrationOptions options;
    options.search = warpalign::Effort::fast;
    options.refine = refine;
    options.motion = model;
    return all(start, options)[0];
  }
  /// Selects the models of one candidate and of those that patches add.
  std::vector<Candidate> all(const Candidate& start, RegistrationOptions options) {
    detail::CandidateEvaluator evaluator(device_, options, fitter_);
    detail::ModelSelection selection(device_, options, fitter_, evaluator);
    const auto patches = detail::make_patches(device_, options);
    std::vector<Candidate> candidates{start};
    selection.select(work(), candidates, [&](std::vector<Candidate>& found) {
      if (options.search == warpalign::Effort::fast) return;
      std::vector<Candidate> proposals;
      patches->propose(work(), 0, found, proposals);
      selection.fit_homographies(work(), proposals, found);
    });
    REQUIRE_FALSE(candidates.empty());
    return candidates;
  }

 private:
  detail::SimilarityFit fitter_;
  warpalign::Device device_;
};

Candidate at(const Similarity& pose, double significance) {
  Candidate candidate;
  candidate.matrix = pose.matrix(shape, shape);
  candidate.significance = significance;
  return candidate;
}

RegistrationOptions of(Motion motion) {
  RegistrationOptions options;
  options.motion = motion;
  return options;
}

double off(const Homography& found, const Homography& truth) {
  return test::max_corner_distance(found, truth, shape);
}

}  // namespace

TEST_CASE(
    "model selection: a candidate with less than half the required significance is not refined") {
  test::on_every_device([](const warpalign::Device& device) {
    Pair pair(device);
    const Similarity truth{4, 1.05, {2, -1}};
    pair.show(Homography(truth.matrix(shape, shape)));
    const Similarity near{4.3, 1.045, {2.5, -1.4}};
    const double half = detail::half_confidence_significance / 2;
    const Candidate poor = pair.chosen(at(near, 0.95 * half), Motion::similarity);
    CHECK_FALSE(poor.refined);
    CHECK(off(Homography(poor.matrix), Homography(near.matrix(shape, shape))) == 0);
    const Candidate fair = pair.chosen(at(near, 1.05 * half), Motion::similarity);
    CHECK(fair.refined);
    CHECK(off(Homography(fair.matrix), Homography(truth.matrix(shape, shape))) <= 0.05);
    CHECK_FALSE(pair.chosen(at(near, 1.05 * half), Motion::similarity, false).refined);
    // The significance of gradient orientations is only known after the null test.
    Candidate by_directions = at(near, 0);
    by_directions.by_orientation = true;
    CHECK(pair.chosen(by_directions, Motion::similarity).refined);
  });
}

TEST_CASE(
    "model selection: a higher-DOF model needs no more evidence only if the candidate was "
    "certain") {
  test::on_every_device([](const warpalign::Device& device) {
    Pair pair(device);
    const Point c = warpalign::centre_of(shape);
    const Homography sheared(Affine::translation(c.x, c.y) *
                             Affine{1.03, 0.02, 1, -0.01, 0.99, -1} *
                             Affine::translation(-c.x, -c.y));
    pair.show(sheared);
    const Similarity near{0.8, 1.01, {1, -1}};
    const Similarity far{0.8, 1.01, {6, 3}};  // too far off to be refined directly
    const double convincing = 1.25 * detail::half_confidence_significance;
    const double certain = 1.1 * detail::accepted_significance;
    const double fair = 0.75 * detail::half_confidence_significance;
    struct Case {
      Similarity pose;
      double significance;
      bool refine, certain;
    };
    for (const Case& one : {Case{near, certain, true, true}, Case{near, convincing, true, true},
                            // It was refined, but was not significant.
                            Case{near, fair, true, false},
                            // It was significant, but could not be refined.
                            Case{far, certain, true, false}, Case{far, convincing, true, false},
                            // Refinement is off.
                            Case{near, convincing, false, true}, Case{near, fair, false, false}}) {
      CAPTURE(one.significance);
      CAPTURE(one.pose.translation.x);
      CAPTURE(one.refine);
      const Candidate found =
          pair.chosen(at(one.pose, one.significance), Motion::automatic, one.refine);
      REQUIRE(found.motion == Motion::affine);
      CHECK(off(found.richer, sheared) <= (one.refine ? 0.05 : 0.5));
      CHECK(found.half_confidence == (one.certain
                                          ? detail::half_confidence_significance
                                          : detail::projective_half_confidence_significance));
    }
  });
}

// There is memory for one candidate, so those that patches add reallocate the list.
TEST_CASE(
    "model selection: a candidate whose refinement fails is fitted after patches added others") {
  test::on_every_device([](const warpalign::Device& device) {
    Pair pair(device);
    const Homography truth(Similarity{0, 1, {9, 5}}.matrix(shape, shape));
    const test::Spots scene(9);
    std::vector<float> reference = scene.drawn(shape, Homography());
    std::vector<float> moving = scene.drawn(shape, truth.inverse());
    test::add_noise(reference, 0.5, 1);
    test::add_noise(moving, 0.5, 2);
    pair.take(pair.reference, reference);
    pair.take(pair.moving, moving);
    const Similarity wrong{0, 1, {0, 0}};
    const auto found =
        pair.all(at(wrong, 1.1 * detail::conclusive_significance), of(Motion::automatic));
    REQUIRE(found.size() > 1);
    CHECK(off(found[1].richer, truth) < 5);
    // An affine fit from this candidate finds the truth.
    CHECK(off(detail::transform_of(found[0]), truth) < 1);
    CHECK(found[0].proposed_by == Candidate().proposed_by);
  });
}
