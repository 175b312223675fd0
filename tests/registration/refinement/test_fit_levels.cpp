// The levels that a coarse fit of an affine transform or a homography visits.
#include "registration/refinement/fit_levels.hpp"

#include "registration/search/drawn_pair.hpp"
#include "support/devices.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

namespace {

namespace detail = warpalign::detail;
using detail::FitLevel;
using warpalign::Motion;
using warpalign::Shape;

/// The levels of a fit between two images of one shape that show the scene at one scale.
std::vector<FitLevel> visited(const warpalign::Device& device, const Shape& shape, Motion motion,
                              double first_side) {
  test::DrawnPair pair(device, shape, shape);  // its pixels are never read
  const detail::FitDirection roles(pair.work(), warpalign::Affine{});
  std::vector<FitLevel> levels;
  for (const FitLevel& level : detail::fit_levels()) {
    if (detail::includes_level(level, motion, first_side) && detail::can_fit_on(level, roles)) {
      levels.push_back(level);
    }
  }
  return levels;
}

/// The side of the last level.
double finest(const std::vector<FitLevel>& levels) {
  return levels.empty() ? 0 : levels.back().side;
}

}  // namespace

TEST_CASE("fit levels: from coarse to fine, first affine, then projective") {
  test::on_every_device([](const warpalign::Device& device) {
    const Shape shape{1600, 1200, 1};
    for (const double first_side : detail::first_sides) {
      CAPTURE(first_side);
      const auto of_homography = visited(device, shape, Motion::homography, first_side);
      REQUIRE_FALSE(of_homography.empty());
      CHECK(of_homography.front().side == first_side);
      for (std::size_t i = 1; i < of_homography.size(); ++i) {
        const FitLevel& last = of_homography[i - 1];
        const FitLevel& next = of_homography[i];
        CAPTURE(next.side);
        // Each step starts from the result of the previous one, on a level that is no coarser.
        CHECK(next.side >= last.side);
        if (next.side == last.side) {
          CHECK(last.motion == Motion::affine);
          CHECK(next.motion == Motion::homography);
        }
        // On a finer level the result can move by fewer of that level's pixels.
        if (next.motion == last.motion) CHECK(next.max_drift < last.max_drift);
      }
      // The affine parameters alone are fitted once on each of these levels.
      std::vector<double> sides, of_affine;
      for (const FitLevel& level : of_homography) sides.push_back(level.side);
      sides.erase(std::unique(sides.begin(), sides.end()), sides.end());
      for (const FitLevel& level : visited(device, shape, Motion::affine, first_side)) {
        of_affine.push_back(level.side);
      }
      CHECK(of_affine == sides);
    }
  });
}

TEST_CASE("fit levels: a level that is nearly as fine as the images is left to the refinement") {
  test::on_every_device([](const warpalign::Device& device) {
    const auto finest_of = [&](std::int64_t side) {
      return finest(visited(device, {side, side / 2, 1}, Motion::homography, 32));
    };
    // The image must be 1.5 times as fine as a level of 512 or 1024 for that level to be visited.
    CHECK(finest_of(768) == 512);
    CHECK(finest_of(767) == 256);
    CHECK(finest_of(1536) == 1024);
    CHECK(finest_of(1535) == 512);
    // The levels that score candidates are always visited.
    CHECK(finest_of(256) == 256);
    CHECK(finest_of(300) == 256);
    CHECK(finest_of(100) == 256);  // the images' own resolution
    // Eight parameters cannot be estimated from so few pixels.
    CHECK(finest_of(24) == 256);
    CHECK(finest_of(23) == 0);
  });
}

TEST_CASE("fit levels: an inconclusive first fit is repeated from finer levels") {
  detail::Candidate fitted;
  fitted.motion = Motion::homography;
  // A significant fit is not enough: it may be a wrong minimum of a coarse level.
  fitted.significance = detail::projective_half_confidence_significance;
  CHECK(detail::is_inconclusive(fitted));
  fitted.significance = 99;
  CHECK(detail::is_inconclusive(fitted));
  // Another fit would take as long, and find the same.
  fitted.significance = 101;
  CHECK_FALSE(detail::is_inconclusive(fitted));
  CHECK(101 < 2 * detail::projective_half_confidence_significance);
  // A homography from patches is not close to a similarity, so levels that are too coarse for it
  // are skipped.
  CHECK(detail::first_sides_from_patches.front() > detail::first_sides.front());
  CHECK(std::is_sorted(detail::first_sides_from_patches.begin(),
                       detail::first_sides_from_patches.end()));
}
