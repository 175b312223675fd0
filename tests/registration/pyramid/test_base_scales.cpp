// Base scales cover the documented range of scales; crops cover the image.
#include "registration/pyramid/base_scales.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

namespace {

using warpalign::Shape;
using warpalign::detail::base_scales;
using warpalign::detail::CropsAlong;
using warpalign::detail::Spacings;

}  // namespace

TEST_CASE("base scales: every scale from 0.2 to 5 is near a base scale") {
  for (double scale = 0.2; scale <= 5; scale *= 1.01) {
    const double ratio = scale / warpalign::detail::nearest_base(scale);
    CAPTURE(scale);
    CHECK(std::max(ratio, 1 / ratio) <= warpalign::detail::max_base_ratio);
  }
}

TEST_CASE(
    "base scales: contents are sampled alike, not finer than the images, and fit the padded "
    "frame") {
  const Shape reference{700, 500, 1};
  const Shape moving{320, 900, 1};
  for (const double base : base_scales) {
    for (const std::int64_t side : {128, 256, 2000}) {
      const Spacings s = warpalign::detail::rotation_scale_spacings(base, reference, moving, side);
      CAPTURE(base);
      CAPTURE(side);
      CHECK(s.reference >= 1);
      CHECK(s.moving >= 1);
      CHECK(s.moving / s.reference == doctest::Approx(base));
      // The image with the larger content is used whole.
      const double samples = 900 / (base >= 1 ? s.moving : s.reference);
      CHECK(samples <= static_cast<double>(side) * (1 + 1e-9));
    }
    const Spacings s = warpalign::detail::shift_spacings(base, reference, moving, 512);
    CHECK(700 / s.reference + std::hypot(320, 900) / s.moving <= 512 * (1 + 1e-9));
  }
}

TEST_CASE("crops: they reach from end to end, and each overlaps the previous one by about half") {
  for (const std::int64_t crop : {7, 40, 128}) {
    for (std::int64_t n = crop; n <= 5 * crop; ++n) {
      const CropsAlong crops(n, crop);
      CAPTURE(crop);
      CAPTURE(n);
      REQUIRE(crops.count() > 0);
      const auto tolerance = static_cast<double>(crop) * 0.05 + 1;
      CHECK(static_cast<double>(crops.start(0)) <= tolerance);
      CHECK(static_cast<double>(n - crop - crops.start(crops.count() - 1)) <= tolerance);
      for (std::int64_t i = 0; i < crops.count(); ++i) {
        CHECK(crops.start(i) >= 0);
        CHECK(crops.start(i) + crop <= n);
        if (i > 0) {
          CHECK(static_cast<double>(crops.start(i) - crops.start(i - 1)) <=
                static_cast<double>(crop) / 2 + tolerance);
        }
      }
    }
  }
}
