// The steps of a fit: normal equations with a known solution, and the resulting transforms.
#include "registration/fitting/fit_steps.hpp"

#include "support/corners.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

namespace {

namespace detail = warpalign::detail;
using detail::FitOptions;
using detail::FitSteps;
using warpalign::Affine;
using warpalign::Homography;
using warpalign::Motion;
using warpalign::Point;
using warpalign::Shape;
using warpalign::SimilaritySumsResult;

constexpr Shape reference{61, 41, 1};
constexpr Shape moving{101, 81, 1};
constexpr detail::UnmaskedPixels counted{61 * 41, 101 * 81};
// Rounding errors of numbers of the order of a hundred.
constexpr double rounding = 1e-9;

/// Sums for images with these statistics: the moving image has mean 7 and standard deviation 6,
/// the reference 3 and 2; their correlation is 0.5, and the mean absolute residual 0.8.
SimilaritySumsResult sums_of(double pixels, std::size_t parameters = 4) {
  SimilaritySumsResult sums;
  sums.parameters = parameters;
  sums.pixels = sums.weight = pixels;
  sums.absolute = 0.8 * pixels;
  sums.reference = 3 * pixels;
  sums.moving = 7 * pixels;
  sums.reference_square = (9 + 4) * pixels;
  sums.moving_square = (49 + 36) * pixels;
  sums.product = (21 + 0.5 * 2 * 6) * pixels;
  return sums;
}

/// Normal equations whose solution in the parameters `free` is `step`. The entries of the other
/// parameters are so large that a step which used them would fail the test.
SimilaritySumsResult leading_to(const std::vector<double>& step,
                                const std::vector<std::size_t>& free, double pixels = 2000) {
  const std::size_t n = step.size();
  SimilaritySumsResult sums = sums_of(pixels, n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) sums.hessian[n * i + j] = i == j ? 1e6 : 1e5;
    sums.gradient[i] = 1e7;
  }
  for (const std::size_t i : free) {
    sums.gradient[i] = 0;
    for (const std::size_t j : free) {
      const double h = i == j ? 4.0 + static_cast<double>(i)
                              : 1 / (1 + static_cast<double>(i) + static_cast<double>(j));
      sums.hessian[n * i + j] = h;
      sums.gradient[i] -= h * step[j];
    }
  }
  return sums;
}

FitOptions options_of(Motion motion) { return {motion, 10, 0.001, 0.5}; }

Homography start_of(double scale = 1) {
  return Homography(warpalign::Similarity{0, scale, {}}.matrix(reference, moving));
}

/// The transform after one step from a start.
Homography after(Motion motion, const Homography& start, const SimilaritySumsResult& sums) {
  FitSteps steps(reference, moving, counted, start, options_of(motion));
  REQUIRE(steps.in_progress());
  steps.begin(sums_of(2000, sums.parameters));
  REQUIRE(steps.in_progress());
  steps.advance(sums);
  REQUIRE(steps.result().has_value());
  return steps.result()->matrix;
}

/// A step of a similarity, as SimilaritySumsResult describes its parameters.
Affine similarity_step(double x, double y, double log_scale, double radians) {
  const double scale = std::exp(log_scale);
  const double c = scale * std::cos(radians);
  const double s = scale * std::sin(radians);
  const Point centre{50, 40};
  return {c,  s, centre.x + x - c * centre.x - s * centre.y,
          -s, c, centre.y + y + s * centre.x - c * centre.y};
}

}  // namespace

TEST_CASE("fit steps: a motion estimates its own parameters and no others") {
  struct Case {
    Motion motion;
    std::vector<double> step;
    std::vector<std::size_t> free;
  };
  const std::vector<Case> cases{{Motion::translation, {1.5, -0.75, 0, 0}, {0, 1}},
                                {Motion::rotation, {0, 0, 0, 0.02}, {3}},
                                {Motion::rigid, {1.5, -0.75, 0, 0.02}, {0, 1, 3}},
                                {Motion::similarity, {1.5, -0.75, 0.03, 0.02}, {0, 1, 2, 3}}};
  const Homography start(warpalign::Similarity{5, 1.2, {2, 1}}.matrix(reference, moving));
  for (const Case& one : cases) {
    CAPTURE(static_cast<int>(one.motion));
    const Homography expected =
        Homography(similarity_step(one.step[0], one.step[1], one.step[2], one.step[3])) * start;
    const Homography found = after(one.motion, start, leading_to(one.step, one.free));
    CHECK(test::max_corner_distance(found, expected, reference) <= rounding);
  }
}

TEST_CASE("fit steps: affine and projective steps move points as expected") {
  const std::vector<double> homography{0.5, -0.25, 0.3, -0.2, 0.15, 0.25, 0.4, -0.3};
  std::vector<double> affine = homography;
  affine[6] = affine[7] = 0;
  const Homography start = start_of(1.1);
  for (const bool projective : {false, true}) {
    const std::vector<double>& d = projective ? homography : affine;
    std::vector<std::size_t> free{0, 1, 2, 3, 4, 5};
    if (projective) free.insert(free.end(), {6, 7});
    const Motion motion = projective ? Motion::homography : Motion::affine;
    FitSteps steps(reference, moving, counted, start, options_of(motion));
    steps.begin(sums_of(2000, 8));
    const auto state = steps.state();
    steps.advance(leading_to(d, free));
    REQUIRE(steps.result().has_value());
    for (const Point p : {Point{0, 0}, Point{60, 0}, Point{0, 40}, Point{60, 40}, Point{13, 29}}) {
      const Point q = start(p);
      const double u = state.unit;
      const double x = q.x - state.centre.x;
      const double y = q.y - state.centre.y;
      const double v = 1 + (d[6] * x + d[7] * y) / (u * u);
      const Point expected{state.centre.x + (x + d[0] + d[2] * x / u + d[3] * y / u) / v,
                           state.centre.y + (y + d[1] + d[4] * x / u + d[5] * y / u) / v};
      const Point found = steps.result()->matrix(p);
      CHECK(std::hypot(found.x - expected.x, found.y - expected.y) <= rounding);
    }
  }
}

TEST_CASE("fit steps: a homography's parameters are relative to the overlap") {
  const auto state_at = [](const Homography& matrix, Motion motion) {
    FitSteps steps(reference, moving, counted, matrix, options_of(motion));
    steps.begin(sums_of(2000, 8));
    return steps.state();
  };
  // The reference, 60 x 40 between its outer pixel centres, lies at (20 ... 80, 20 ... 60).
  for (const Motion motion : {Motion::affine, Motion::homography}) {
    const auto within = state_at(Homography(Affine::translation(20, 20)), motion);
    CHECK(within.centre.x == 50);
    CHECK(within.centre.y == 40);
    CHECK(within.unit == 30);
  }
  // If the reference reaches beyond the moving image, the part outside does not count.
  const auto right = state_at(Homography(Affine::translation(70, 64)), Motion::affine);
  CHECK(right.centre.x == 85);  // of 70 ... 100
  CHECK(right.centre.y == 72);  // of 64 ... 80
  CHECK(right.unit == 15);
  const auto left = state_at(Homography(Affine::translation(-32, -8)), Motion::affine);
  CHECK(left.centre.x == 14);  // of 0 ... 28
  CHECK(left.centre.y == 16);  // of 0 ... 32
  CHECK(left.unit == 16);
  const auto little = state_at(Homography(Affine::translation(97, 78)), Motion::affine);
  CHECK(little.unit == 2);  // of 97 ... 100 and 78 ... 80: half of three, rounded
  const auto least = state_at(Homography(Affine::translation(100, 80)), Motion::affine);
  CHECK(least.unit == 1);
  // The frame of the parameters follows each step.
  FitSteps steps(reference, moving, counted, Homography(Affine::translation(20, 20)),
                 options_of(Motion::affine));
  steps.begin(sums_of(2000, 8));
  steps.advance(leading_to({8, 4, 0, 0, 0, 0, 0, 0}, {0, 1, 2, 3, 4, 5}));
  CHECK(steps.state().centre.x == 58);
  CHECK(steps.state().centre.y == 44);
  // A similarity's parameters are about the moving image's centre, whatever the overlap.
  const auto similarity = state_at(Homography(Affine::translation(70, 64)), Motion::similarity);
  CHECK(similarity.unit == 1);
}

TEST_CASE(
    "fit steps: the gain is the ratio of the standard deviations, and offsets match the means") {
  const auto illumination = detail::global_illumination(sums_of(500));
  CHECK(illumination.reference == doctest::Approx(3));
  CHECK(illumination.moving == doctest::Approx(7));
  CHECK(illumination.variance == doctest::Approx(4));
  CHECK(illumination.gain == doctest::Approx(3));
  CHECK(illumination.offset == doctest::Approx(7 - 3 * 3));
  SimilaritySumsResult flat = sums_of(500);
  flat.reference_square = 9 * 500;
  CHECK(detail::global_illumination(flat).gain == 1);
  CHECK(detail::global_illumination(flat).variance == 0);
  CHECK(detail::global_illumination(flat).offset == doctest::Approx(4));
  flat = sums_of(500);
  flat.moving_square = 48 * 500;  // below the square of the mean, as rounding may make it
  CHECK(detail::global_illumination(flat).gain == 0);
}

TEST_CASE("fit steps: a state has the gain, offset and residual scale of the previous step") {
  for (const int cell : {0, 8}) {
    CAPTURE(cell);
    FitOptions options = options_of(Motion::translation);
    options.illumination_cell = cell;
    FitSteps steps(reference, moving, counted, start_of(), options);
    steps.begin(sums_of(2000));
    CHECK(steps.global().gain == doctest::Approx(3));
    CHECK(steps.state().gain == doctest::Approx(3));
    CHECK(steps.state().offset == doctest::Approx(-2));
    CHECK(steps.state().scale == 0);  // at first all pixels count equally
    CHECK(steps.estimates_illumination());
    CHECK(steps.result()->correlation == doctest::Approx(0.5));
    CHECK(steps.result()->pixels == 2000);
    CHECK_FALSE(steps.result()->converged);
    CHECK(steps.result()->last_move == 0);
    SimilaritySumsResult sums = leading_to({2, 0, 0, 0}, {0, 1}, 1500);
    sums.moving_square = (49 + 16) * 1500;  // a gain of 2
    steps.advance(sums);
    CHECK(steps.state().gain == doctest::Approx(cell == 0 ? 2 : 3));
    CHECK(steps.state().offset == doctest::Approx(cell == 0 ? 1 : -2));
    // 95 % efficiency for normal residuals, whose standard deviation is sqrt(pi / 2) times their
    // mean absolute value.
    const double deviation = 0.8 * std::sqrt(std::numbers::pi / 2);
    CHECK(steps.state().scale == doctest::Approx(4.685 * deviation).epsilon(1e-4));
    CHECK(steps.result()->pixels == 1500);
    CHECK(steps.result()->correlation == doctest::Approx(0.75));
    CHECK(steps.result()->last_move == doctest::Approx(2));
  }
}

TEST_CASE(
    "fit steps: a fit ends after a short weighted step, or after the maximum number of steps") {
  FitSteps steps(reference, moving, counted, start_of(), options_of(Motion::translation));
  steps.begin(sums_of(2000));
  const auto step_by = [&](double x) { steps.advance(leading_to({x, 0, 0, 0}, {0, 1})); };
  step_by(1e-5);  // a step with equal weights, so it is not the last one
  CHECK(steps.in_progress());
  CHECK_FALSE(steps.result()->converged);
  CHECK_FALSE(steps.estimates_illumination());
  step_by(1);
  CHECK(steps.in_progress());
  CHECK(steps.estimates_illumination());  // since the transform moved
  step_by(0.0011);
  CHECK(steps.in_progress());
  CHECK_FALSE(steps.result()->converged);
  step_by(0.0009);
  CHECK_FALSE(steps.in_progress());
  CHECK(steps.result()->converged);
  CHECK(steps.result()->last_move == doctest::Approx(0.0009));

  for (const int iterations : {0, 1, 3}) {
    CAPTURE(iterations);
    FitOptions options = options_of(Motion::translation);
    options.iterations = iterations;
    FitSteps few(reference, moving, counted, start_of(), options);
    few.begin(sums_of(2000));
    int taken = 0;
    while (few.in_progress() && taken < 10) {
      few.advance(leading_to({0.5, 0, 0, 0}, {0, 1}));
      ++taken;
    }
    CHECK(taken == iterations);
    REQUIRE(few.result().has_value());
    CHECK_FALSE(few.result()->converged);
    CHECK(few.result()->matrix({0, 0}).x == doctest::Approx(20 + 0.5 * iterations));
  }
}

TEST_CASE("fit steps: the illumination is estimated until steps are below 20 tolerances") {
  const FitOptions options = options_of(Motion::translation);
  FitSteps steps(reference, moving, counted, start_of(), options);
  steps.begin(sums_of(2000));
  CHECK(steps.estimates_illumination());
  const auto step_by = [&](double tolerances) {
    steps.advance(leading_to({tolerances * options.tolerance, 0, 0, 0}, {0, 1}));
    REQUIRE(steps.in_progress());
  };
  step_by(400);
  CHECK(steps.estimates_illumination());
  // A slightly longer step: the illumination of the cells may still change after it.
  step_by(21);
  CHECK(steps.estimates_illumination());
  // From here on the illumination is fixed.
  step_by(19);
  CHECK_FALSE(steps.estimates_illumination());
  step_by(2);
  CHECK_FALSE(steps.estimates_illumination());
}

TEST_CASE("fit steps: a fit whose last step was short is at rest, converged or not") {
  detail::FitResult fitted;
  for (const bool converged : {false, true}) {
    fitted.converged = converged;
    fitted.last_move = 0.19;
    CHECK(detail::is_stationary(fitted));
    // The last of many steps was longer than a fifth of a pixel: the fit is still moving.
    fitted.last_move = 0.21;
    CHECK_FALSE(detail::is_stationary(fitted));
  }
}

TEST_CASE("fit steps: a fit that drifts too far fails, however short its steps are") {
  for (const double scale : {1.0, 2.5}) {
    // A tenth of the larger side, that of the moving image (101 pixels) or of the scaled reference
    // (61 pixels times the scale).
    const double most = 0.1 * std::max(101.0, scale * 61);
    for (const bool too_far : {false, true}) {
      CAPTURE(scale);
      CAPTURE(too_far);
      FitOptions options = options_of(Motion::translation);
      options.max_drift = 0.1;
      FitSteps steps(reference, moving, counted, start_of(scale), options);
      steps.begin(sums_of(2000));
      for (int i = 0; i < 4; ++i) steps.advance(leading_to({0.24 * most, 0, 0, 0}, {0, 1}));
      CHECK(steps.result().has_value());
      if (too_far) {
        steps.advance(leading_to({0.05 * most, 0, 0, 0}, {0, 1}));
      } else {
        steps.advance(leading_to({0.03 * most, 0, 0, 0}, {0, 1}));
      }
      CHECK(steps.result().has_value() != too_far);
      CHECK(steps.in_progress() != too_far);
    }
  }
}

TEST_CASE("fit steps: a fit with too little overlap fails") {
  // The limit is 2 % of the smaller image: of the reference's pixels or, if its content appears
  // larger in the moving image, of the smaller number of reference pixels that the moving image
  // covers.
  struct Case {
    double scale, least;
  };
  for (const auto& [scale, least] :
       {Case{1, 0.02 * 61 * 41}, Case{3, 0.02 * 101 * 81 / 9}, Case{0.5, 0.02 * 61 * 41}}) {
    CAPTURE(scale);
    const auto at = [&, scale = scale] {
      return FitSteps(reference, moving, counted, start_of(scale), options_of(Motion::similarity));
    };
    FitSteps enough = at();
    enough.begin(sums_of(1.02 * least));
    CHECK(enough.result().has_value());
    enough.advance(leading_to({0.1, 0, 0, 0}, {0, 1, 2, 3}, 0.98 * least));
    CHECK_FALSE(enough.result().has_value());
    CHECK_FALSE(enough.in_progress());
    FitSteps too_little = at();
    too_little.begin(sums_of(0.98 * least));
    CHECK_FALSE(too_little.result().has_value());
    CHECK_FALSE(too_little.in_progress());
  }
}

TEST_CASE(
    "fit steps: a fit fails if the equations have no solution or the horizon is in the reference") {
  FitSteps steps(reference, moving, counted, start_of(), options_of(Motion::similarity));
  steps.begin(sums_of(2000));
  steps.advance(sums_of(2000));  // a Hessian of zeros
  CHECK_FALSE(steps.result().has_value());
  CHECK_FALSE(steps.in_progress());
  // The divisor is 0 at x = 30, within the reference.
  const Homography horizon({1, 0, 0, 0, 1, 0, -1.0 / 30, 0, 1});
  CHECK_FALSE(
      FitSteps(reference, moving, counted, horizon, options_of(Motion::homography)).in_progress());
  // A step that creates a horizon: at the left edge, 30 units of 1 from the centre, v = 1 - 1.2.
  FitSteps tilting(reference, moving, counted, Homography(Affine::translation(20, 20)),
                   options_of(Motion::homography));
  tilting.begin(sums_of(2000, 8));
  tilting.advance(leading_to({0, 0, 0, 0, 0, 0, 1.2 * 30, 0}, {0, 1, 2, 3, 4, 5, 6, 7}));
  CHECK_FALSE(tilting.result().has_value());
}

TEST_CASE("fit steps: the movement of a homography is measured over the overlap") {
  // An affine step about (50, 40) enlarges lengths by 1 %. Its movement is 1 % of the root mean
  // square distance of the grid's 17 x 17 points from there, along both axes.
  FitSteps steps(reference, moving, counted, Homography(Affine::translation(20, 20)),
                 options_of(Motion::affine));
  steps.begin(sums_of(2000, 8));
  steps.advance(leading_to({0, 0, 0.3, 0, 0, 0.3, 0, 0}, {0, 1, 2, 3, 4, 5}));
  double squares = 0;
  for (int i = -8; i <= 8; ++i) squares += i * i / 17.0;
  const double expected = 0.01 * std::sqrt(squares * (std::pow(60 / 16.0, 2) + std::pow(2.5, 2)));
  CHECK(steps.result()->last_move == doctest::Approx(expected));
  // The movement of a similarity is measured at its corners.
  FitSteps corners(reference, moving, counted, Homography(Affine::translation(20, 20)),
                   options_of(Motion::similarity));
  corners.begin(sums_of(2000));
  corners.advance(leading_to({0, 0, std::log(1.01), 0}, {0, 1, 2, 3}));
  CHECK(corners.result()->last_move == doctest::Approx(0.01 * std::hypot(30, 20)));
}

TEST_CASE("fit steps: two channels count as one image with two offsets") {
  SimilaritySumsResult first = leading_to({2, 1, 0, 0}, {0, 1});
  SimilaritySumsResult second = leading_to({5, 4, 0, 0}, {0, 1});
  second.reference = -1 * 2000;
  second.reference_square = (1 + 12) * 2000;
  second.moving = 4 * 2000;
  second.moving_square = (16 + 28) * 2000;
  second.product = (-4 + 10) * 2000;
  second.absolute = 0.4 * 2000;
  const SimilaritySumsResult all = detail::joined(first, second);
  CHECK(all.pixels == 2000);
  CHECK(all.weight == 4000);
  CHECK(all.absolute == doctest::Approx(0.6 * 2000));
  CHECK(all.reference == 0);
  CHECK(all.moving == 0);
  CHECK(all.reference_square == doctest::Approx((4 + 12) * 2000));
  CHECK(all.moving_square == doctest::Approx((36 + 28) * 2000));
  CHECK(all.product == doctest::Approx((6 + 10) * 2000));
  for (const std::size_t i : {0, 1, 5, 15}) {
    CHECK(all.hessian[i] == first.hessian[i] + second.hessian[i]);
  }
  for (std::size_t i = 0; i < 4; ++i)
    CHECK(all.gradient[i] == first.gradient[i] + second.gradient[i]);

  FitSteps steps(reference, moving, counted, start_of(), options_of(Motion::translation));
  steps.begin(first, &second);
  // The gain is 2, the root of 64 / 16, and the offsets are 7 - 2 x 3 and 4 + 2 x 1.
  CHECK(steps.result()->correlation == doctest::Approx(16 / std::sqrt(16.0 * 64)));
  for (int i = 0; i < 2; ++i) {
    CHECK(steps.state().gain == doctest::Approx(2));
    CHECK(steps.state(0).offset == doctest::Approx(1));
    CHECK(steps.state(1).offset == doctest::Approx(6));
    steps.advance(first, &second);
    REQUIRE(steps.result().has_value());
  }
  // Both channels have the same Hessian, so the step is the mean of their steps.
  const Point moved = steps.result()->matrix({0, 0});
  CHECK(moved.x == doctest::Approx(20 + 2 * 3.5));
  CHECK(moved.y == doctest::Approx(20 + 2 * 2.5));
}

TEST_CASE(
    "fit steps: two channels with the eight parameters of affine transforms and homographies") {
  for (const Motion motion : {Motion::affine, Motion::homography}) {
    CHECK(detail::is_projective(motion));
  }
  for (const Motion motion :
       {Motion::translation, Motion::rotation, Motion::rigid, Motion::similarity}) {
    CHECK_FALSE(detail::is_projective(motion));
  }
}
