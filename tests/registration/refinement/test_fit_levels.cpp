// Which levels a coarse fit of an affine transform or a homography visits.
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

/// The levels that a fit between images of one shape visits, which show the same at one scale.
std::vector<FitLevel> visited(const warpalign::Device& device, const Shape& shape, Motion motion,
                              double first_side) {
  test::DrawnPair pair(device, shape, shape);  // no pixel is asked of them
  const detail::FitRoles roles(pair.work(), warpalign::Affine{});
  std::vector<FitLevel> levels;
  for (const FitLevel& level : detail::fit_levels()) {
    if (detail::is_level_of(level, motion, first_side) && detail::is_fitted_on(level, roles)) {
      levels.push_back(level);
    }
  }
  return levels;
}

/// The side of the last one.
double finest(const std::vector<FitLevel>& levels) {
  return levels.empty() ? 0 : levels.back().side;
}

}  // namespace

TEST_CASE("fit levels: from coarse to fine, and perspective after what is affine") {
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
        // Each step begins from what the one before has found on a level that is no finer.
        CHECK(next.side >= last.side);
        if (next.side == last.side) {
          CHECK(last.motion == Motion::affine);
          CHECK(next.motion == Motion::homography);
        }
        // What is found on a finer level has fewer pixels of it to go.
        if (next.motion == last.motion) CHECK(next.max_drift < last.max_drift);
      }
      // Affine parameters alone are fitted once on each of these levels.
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

TEST_CASE("fit levels: a level that the images are hardly finer than is left to the refinement") {
  test::on_every_device([](const warpalign::Device& device) {
    const auto finest_of = [&](std::int64_t side) {
      return finest(visited(device, {side, side / 2, 1}, Motion::homography, 32));
    };
    // One and a half times as fine as a level of 512 or 1024, and a pixel less.
    CHECK(finest_of(768) == 512);
    CHECK(finest_of(767) == 256);
    CHECK(finest_of(1536) == 1024);
    CHECK(finest_of(1535) == 512);
    // Levels on which candidates are judged are visited however fine the images are.
    CHECK(finest_of(256) == 256);
    CHECK(finest_of(300) == 256);
    CHECK(finest_of(100) == 256);  // at the images' own resolution
    // Eight parameters are not told from a few pixels.
    CHECK(finest_of(24) == 256);
    CHECK(finest_of(23) == 0);
  });
}

TEST_CASE("fit levels: fits from finer levels are tried where the first is not beyond doubt") {
  detail::Candidate fitted;
  fitted.motion = Motion::homography;
  // What is convincing is not enough: it may be a wrong minimum of a coarse level.
  fitted.significance = detail::richer_half_confidence_significance;
  CHECK(detail::is_in_doubt(fitted));
  fitted.significance = 99;
  CHECK(detail::is_in_doubt(fitted));
  // Another fit would cost as much again, and find the same.
  fitted.significance = 101;
  CHECK_FALSE(detail::is_in_doubt(fitted));
  CHECK(101 < 2 * detail::richer_half_confidence_significance);
  // What windows agree on is no similarity: it is fitted on no level that is too coarse for it.
  CHECK(detail::first_sides_by_windows.front() > detail::first_sides.front());
  CHECK(
      std::is_sorted(detail::first_sides_by_windows.begin(), detail::first_sides_by_windows.end()));
}
