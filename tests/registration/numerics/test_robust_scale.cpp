// When a robust fit updates the scale of its weights, and to which value.
#include "registration/numerics/robust_scale.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <numbers>

namespace {

using warpalign::detail::RobustScale;
using warpalign::detail::tukey_constant;

// Evaluates until `evaluations` are counted, with normal residuals of this standard deviation.
void evaluate(RobustScale& scale, int evaluations, double deviation) {
  while (scale.evaluations() < evaluations) {
    scale.count_evaluation();
    scale.update(100 * deviation * std::sqrt(2 / std::numbers::pi), 100);
  }
}

}  // namespace

TEST_CASE("robust scale: weights begin at the third evaluation, from the residuals of the second") {
  RobustScale scale(6);
  evaluate(scale, 1, 5);
  CHECK(scale.inverse() == 0);
  evaluate(scale, 2, 2);
  CHECK_FALSE(scale.was_robust());
  CHECK(1 / scale.inverse() == doctest::Approx(tukey_constant * 2).epsilon(1e-4));
  evaluate(scale, 3, 2);
  CHECK(scale.was_robust());
}

TEST_CASE("robust scale: it is kept after the last update, and by a fit that starts with it") {
  RobustScale scale(4);
  evaluate(scale, 4, 2);
  const float kept = scale.inverse();
  evaluate(scale, 5, 1);
  CHECK(scale.inverse() == kept);
  scale.restart_with_scale();
  CHECK(scale.inverse() == kept);
  evaluate(scale, 3, 1);
  CHECK(scale.inverse() == doctest::Approx(2 * kept));
  scale.restart();
  CHECK(scale.inverse() == 0);
  CHECK(scale.evaluations() == 0);
}

TEST_CASE("robust scale: it follows the weighted variance once there are weights") {
  RobustScale scale(6);
  scale.count_evaluation();
  scale.update(100, 100, 9);
  CHECK(scale.inverse() == 0);
  scale.count_evaluation();
  scale.update(100, 100, 9);
  CHECK(1 / scale.inverse() == doctest::Approx(tukey_constant * 1.2533));
  scale.count_evaluation();
  scale.update(100, 100, 9);
  CHECK(1 / scale.inverse() == doctest::Approx(tukey_constant * 1.099 * 3));
}

TEST_CASE("robust scale: it is kept without samples, and without residuals the weights are equal") {
  RobustScale scale(6);
  evaluate(scale, 2, 2);
  const float known = scale.inverse();
  scale.count_evaluation();
  scale.update(0, 0, 0);
  CHECK(scale.inverse() == known);
  scale.update(0, 100, 0);
  CHECK(scale.inverse() == 0);
}
