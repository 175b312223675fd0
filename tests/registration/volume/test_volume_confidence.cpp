// The significance of a correlation of volumes. Needs no device.
#include "registration/numerics/confidence.hpp"
#include "registration/numerics/correlation.hpp"

#include <doctest/doctest.h>

#include <cmath>

using warpalign::detail::correlation_of;
using warpalign::detail::Moments;
using warpalign::detail::volume_confidence;
using warpalign::detail::volume_significance;

TEST_CASE("correlation: from moments, independent of gain and offset; 0 for constant data") {
  // r = 1, 2, 3, 4 and m = 5 r - 2, then m reversed.
  CHECK(correlation_of(Moments{4, 10, 42, 30, 566, 130}) == doctest::Approx(1));
  CHECK(correlation_of(Moments{4, 10, 42, 30, 566, 80}) == doctest::Approx(-1));
  CHECK(correlation_of(Moments{4, 8, 42, 16, 566, 84}) == 0);
  CHECK(correlation_of(Moments{1, 3, 4, 9, 16, 12}) == 0);
  CHECK(correlation_of(Moments{}) == 0);
}

TEST_CASE("volume significance: Fisher's z in standard deviations, 0 for too few voxels") {
  CHECK(volume_significance(0.5, 103) == doctest::Approx(std::atanh(0.5) * 10));
  CHECK(volume_significance(-0.5, 103) == doctest::Approx(-std::atanh(0.5) * 10));
  CHECK(volume_significance(0.9, 3) == 0);
  CHECK(volume_significance(0.9, 0.1) == 0);
  CHECK(std::isfinite(volume_significance(1, 1e9)));
}

TEST_CASE("volume confidence: 0 to 1, and 0.5 at the documented significance") {
  CHECK(volume_confidence(0) == 0);
  CHECK(volume_confidence(-3) == 0);
  CHECK(volume_confidence(5.5) == doctest::Approx(0.5));
  CHECK(volume_confidence(5.1) < 0.35);
  CHECK(volume_confidence(8) > 0.95);
}
