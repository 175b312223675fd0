// When a robust fit updates the scale of its weights, and to what.
#include "registration/numerics/robust_scale.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <numbers>

namespace {

using warpalign::detail::RobustScale;
using warpalign::detail::tukey_constant;

// Evaluates until `evaluations` are counted, with normally distributed residuals of this deviation.
void evaluate(RobustScale& scale, int evaluations, double deviation) {
  while (scale.evaluations() < evaluations) {
    scale.count_evaluation();
    scale.update(100 * deviation * std::sqrt(2 / std::numbers::pi), 100);
  }
}

}  // namespace

TEST_CASE("robust scale: weights from the third evaluation on, by the residuals of the second") {
  RobustScale scale(6);
  evaluate(scale, 1, 5);
  CHECK(scale.inverse() == 0);
  evaluate(scale, 2, 2);
  CHECK_FALSE(scale.was_robust());
  CHECK(1 / scale.inverse() == doctest::Approx(tukey_constant * 2).epsilon(1e-4));
  evaluate(scale, 3, 2);
  CHECK(scale.was_robust());
}

TEST_CASE("robust scale: kept after the last update, and by a fit that begins with it") {
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

TEST_CASE("robust scale: by the weighted variance once there are weights") {
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

TEST_CASE("robust scale: without samples it stays, and without residuals all have equal weight") {
  RobustScale scale(6);
  evaluate(scale, 2, 2);
  const float known = scale.inverse();
  scale.count_evaluation();
  scale.update(0, 0, 0);
  CHECK(scale.inverse() == known);
  scale.update(0, 100, 0);
  CHECK(scale.inverse() == 0);
}
