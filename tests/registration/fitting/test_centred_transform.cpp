// Transforms about the centres of two images, and the restriction of a motion to its own
// parameters.
#include "registration/fitting/centred_transform.hpp"

#include "formulas/plane_maps.h"
#include "registration/fitting/fit_steps.hpp"
#include "registration/numerics/transform_distance.hpp"
#include "support/corners.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <random>
#include <utility>

namespace {

namespace detail = warpalign::detail;
using warpalign::Affine;
using warpalign::Homography;
using warpalign::Motion;
using warpalign::Point;
using warpalign::Shape;
using warpalign::Similarity;

constexpr Shape reference{120, 91, 1};
constexpr Shape moving{133, 140, 1};
// Rounding errors of numbers of the order of a hundred.
constexpr double rounding = 1e-10;

Homography random_homography(std::mt19937& random) {
  std::uniform_real_distribution<double> by(-12, 12);
  std::array<Point, 4> corners{};
  for (Point& corner : corners) corner = {by(random) + 5, by(random) + 20};
  return test::moving_corners(reference, corners);
}

/// The matrix rounded to single precision.
Homography rounded(Homography matrix) {
  for (double& number : matrix.h) number = static_cast<double>(static_cast<float>(number));
  return matrix;
}

}  // namespace

TEST_CASE("centred transform: maps points relative to the centres as the original maps pixels") {
  std::mt19937 random(3);
  for (int i = 0; i < 20; ++i) {
    const Homography matrix = random_homography(random);
    const Homography centred = detail::about_centres(matrix, reference, moving);
    CHECK(centred.h[8] == 1);
    const Point q = matrix({20, 30});
    const Point found = centred({20 - 59.5, 30 - 45.0});
    CHECK(std::abs(found.x - (q.x - 66)) <= rounding);
    CHECK(std::abs(found.y - (q.y - 69.5)) <= rounding);
    const Homography back = detail::in_pixels(centred.h.data(), reference, moving);
    CHECK(test::max_corner_distance(back, matrix, reference) <= rounding);
  }
  // An affine transform stays exactly affine.
  const Homography affine = Affine{1.1, 0.2, 3, -0.3, 0.9, 7};
  const Homography centred = detail::about_centres(affine, reference, moving);
  CHECK(centred.is_affine());
  CHECK(detail::in_pixels(centred.h.data(), reference, moving).is_affine());
}

TEST_CASE("centred transform: distances equal those between the pixel transforms") {
  std::mt19937 random(4);
  for (int i = 0; i < 20; ++i) {
    const Homography a = random_homography(random);
    const Homography b = random_homography(random);
    const Homography ca = detail::about_centres(a, reference, moving);
    const Homography cb = detail::about_centres(b, reference, moving);
    CHECK(std::abs(wa_corner_distance(ca.h.data(), cb.h.data(), 59.5, 45) -
                   detail::corner_distance(a, b, reference)) <= rounding);
    // Summed as in fit_step.cl.
    double squares = 0;
    double points = 0;
    for (int y = -8; y <= 8; ++y) {
      for (int x = -8; x <= 8; ++x) {
        wa_add_distance(ca.h.data(), cb.h.data(), 59.5 * x / 8, 45.0 * y / 8, 66, 69.5, &squares,
                        &points);
      }
    }
    REQUIRE(points > 0);
    CHECK(std::abs(std::sqrt(squares / points) -
                   detail::common_distance(a, b, reference, moving)) <= rounding);
  }
}

TEST_CASE("centred transform: a motion keeps to its own parameters in spite of rounding") {
  const Homography start(Similarity{17, 1.21, {3, -2}}.matrix(reference, moving));
  const auto moved = [&](Motion motion, const Similarity& by) {
    const Homography exact = Homography(by.matrix(moving, moving)) * start;
    Homography found = rounded(exact);
    found.h[0] += 3e-7;
    const Homography result = detail::project_onto_motion(start, found, motion, reference);
    // Rounding to single precision moves corners by 1e-5 pixels, and the added 3e-7, at 60 pixels
    // from the centre, by 2e-5.
    CHECK(test::max_corner_distance(result, exact, reference) <= 5e-5);
    return result.affine();
  };
  const auto scale_of = [](const Affine& m) { return std::sqrt(m.a * m.e - m.b * m.d); };
  const Affine shifted = moved(Motion::translation, {0, 1, {1.5, 0.25}});
  CHECK(shifted.a == start.h[0]);
  CHECK(shifted.b == start.h[1]);
  const Affine rigid = moved(Motion::rigid, {2, 1, {1.5, 0.25}});
  CHECK(std::abs(scale_of(rigid) - 1.21) <= rounding);
  CHECK(std::abs(scale_of(moved(Motion::rotation, {2, 1, {}})) - 1.21) <= rounding);
  for (const Affine& m : {rigid, moved(Motion::similarity, {2, 1.01, {1.5, 0.25}})}) {
    CHECK(std::abs(m.a - m.e) <= rounding);
    CHECK(std::abs(m.b + m.d) <= rounding);
  }
  const Homography sheared = Affine{1, 0.1, 0, 0, 1, 0};
  CHECK(detail::project_onto_motion(start, sheared, Motion::affine, reference).h == sheared.h);
}

TEST_CASE("centred transform: a fit resumes from a state that was computed elsewhere") {
  const Homography start(Similarity{5, 1.1, {2, 1}}.matrix(reference, moving));
  const detail::UnmaskedPixels counted{120 * 91, 133 * 140};
  detail::FitSteps steps(reference, moving, counted, start, {Motion::rigid, 10, 0.001, 0.5});
  WaFit ended = steps.fit();
  ended.found = 1;
  ended.in_progress = 0;
  ended.correlation = 0.5;
  ended.pixels = 77;
  // A fit that was only evaluated, at its start.
  steps.take(ended);
  REQUIRE(steps.result().has_value());
  CHECK(steps.result()->matrix.h == start.h);
  CHECK_FALSE(steps.in_progress());
  ended.iteration = 3;
  ended.converged = 1;
  ended.last_move = 0.0005;
  ended.matrix[2] += 1.25;
  steps.take(ended);
  const auto& result = *steps.result();
  CHECK(result.converged);
  CHECK(result.last_move == 0.0005);
  CHECK(result.correlation == 0.5);
  CHECK(result.pixels == 77);
  CHECK(test::max_corner_distance(result.matrix, Homography(Affine::translation(1.25, 0)) * start,
                                  reference) <= rounding);
  ended.found = 0;
  steps.take(ended);
  CHECK_FALSE(steps.result().has_value());
}
