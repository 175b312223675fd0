// The confidence of a registration of images, at the values that the documentation states.
#include "registration/numerics/confidence.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace detail = warpalign::detail;

TEST_CASE("confidence: one half at the documented significance, 0 at none, with a steep rise") {
  CHECK(detail::confidence_of(32) == doctest::Approx(0.5));
  CHECK(detail::confidence_of(54, detail::projective_half_confidence_significance) ==
        doctest::Approx(0.5));
  CHECK(detail::confidence_of(0) == 0);
  CHECK(detail::confidence_of(-40) == 0);
  // A logistic function of 10 times the logarithm.
  CHECK(detail::confidence_of(64) == doctest::Approx(1 / (1 + std::pow(2, -10))));
  CHECK(detail::confidence_of(16) == doctest::Approx(1 / (1 + std::pow(2, 10))));
}

TEST_CASE(
    "confidence: the significance is Fisher's z in standard deviations, finite for equal images") {
  CHECK(detail::significance_of(0, 100) == 0);
  CHECK(detail::significance_of(0.5, 100) == doctest::Approx(10 * std::atanh(0.5)));
  CHECK(detail::significance_of(-0.5, 100) == doctest::Approx(-10 * std::atanh(0.5)));
  CHECK(detail::significance_of(0.5, 0) == 0);
  // Correlations are clamped to 1 - 1e-6 in absolute value.
  CHECK(detail::significance_of(1, 100) == doctest::Approx(10 * std::atanh(1 - 1e-6)));
  CHECK(detail::significance_of(-1, 100) == doctest::Approx(-10 * std::atanh(1 - 1e-6)));
}

TEST_CASE("confidence: an equally good second pose removes it, however significant the first") {
  CHECK(detail::null_test_confidence(1, 0) == doctest::Approx(0.5));
  CHECK(detail::null_test_confidence(0, 0) == 0);
  CHECK(detail::null_test_confidence(5, 0) > 0.99);
  CHECK(detail::null_test_confidence(0.9, 0) == doctest::Approx(1 / (1 + std::pow(0.9, -10))));
  CHECK(detail::null_test_confidence(1.1, 0) == doctest::Approx(1 / (1 + std::pow(1.1, -10))));
  CHECK(detail::null_test_confidence(5, 0.8) == doctest::Approx(1 / (1 + std::pow(0.8 / 0.7, 10))));
  CHECK(detail::null_test_confidence(5, 0.7) == doctest::Approx(0.5));
  CHECK(detail::null_test_confidence(5, 1) < 0.05);
  CHECK(detail::null_test_confidence(5, 0.35) > 0.99);
  CHECK(detail::null_test_confidence(1, 0.35) == doctest::Approx(0.5));
}

TEST_CASE("confidence: in the fast pipeline it grows with the fourth root of the pixels") {
  // Unrelated pairs reach 1.16 times that root; registered ones have 1.83 times and more.
  for (const std::int64_t side : {128, 512, 2048}) {
    const double root = std::sqrt(static_cast<double>(side));
    CHECK(detail::fast_confidence(1.45 * root, side * side) == doctest::Approx(0.5));
    CHECK(detail::fast_confidence(1.16 * root, side * side) < 0.105);
    CHECK(detail::fast_confidence(1.83 * root, side * side) > 0.905);
  }
}

TEST_CASE("confidence: of volumes, three less than the independent voxels count") {
  CHECK(detail::volume_significance(0.5, 103) == doctest::Approx(10 * std::atanh(0.5)));
  CHECK(detail::volume_significance(0.5, 3) == 0);
  CHECK(detail::volume_significance(0.5, 1) == 0);
  CHECK(detail::volume_confidence(5.5) == doctest::Approx(0.5));
  CHECK(detail::volume_confidence(11) == doctest::Approx(1 / (1 + std::pow(2, -10))));
  CHECK(detail::volume_confidence(0) == 0);
}
