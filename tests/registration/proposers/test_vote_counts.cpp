// The votes for a homography, compared with their definition.
#include "registration/proposers/patch_votes.hpp"

#include "registration/search/oblique_plane.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace {

using test::oblique_plane::shape;
using test::oblique_plane::truth;
using warpalign::Homography;
using warpalign::Point;
using warpalign::detail::PatchMatch;
using warpalign::detail::PatchVotes;
using warpalign::detail::VoteOptions;

// Matches in views of several scales and rotations. Most are right in the views nearest to the
// truth; others are slightly or far off, weak, or have another rotation or scale.
std::vector<PatchMatch> mixed_matches(std::uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform;
  std::vector<PatchMatch> matches;
  for (const double scale : {1.0, 1.25, 2.5}) {
    for (const double rotation : {30.0, 45.0, 60.0, 105.0}) {
      for (std::size_t w = 0; w < 30; ++w) {
        PatchMatch match;
        match.window = (7 * w) % 30;
        match.view.rotation_deg = rotation;
        match.view.scale = scale;
        match.reference = {14 + 16.8 * static_cast<double>(match.window % 6),
                           14 + 14 * static_cast<double>(match.window / 6)};
        const Point position = truth()(match.reference);
        const double off = 4.5 * uniform(random);  // the tolerance is up to 3
        const double direction = 6.28 * uniform(random);
        match.moving = {position.x + off * std::cos(direction),
                        position.y + off * std::sin(direction)};
        match.correlation = 0.8 + 1.2 * uniform(random);
        matches.push_back(match);
      }
    }
  }
  return matches;
}

// Counts the patches that agree with a homography, and their votes, by definition.
warpalign::detail::HomographyHypothesis counted(const Homography& matrix,
                                                const std::vector<PatchMatch>& matches,
                                                const VoteOptions& options) {
  std::vector<double> best(30, 0);
  for (const PatchMatch& match : matches) {
    if (match.correlation < options.min_correlation) continue;
    const Point p = matrix(match.reference);
    const double distance = std::hypot(p.x - match.moving.x, p.y - match.moving.y);
    if (distance > options.tolerance * match.view.scale) continue;
    const auto here = warpalign::detail::view_of(matrix.affine_at(match.reference));
    const double rotation_difference =
        std::remainder(here.rotation_deg - match.view.rotation_deg, 360);
    if (std::abs(rotation_difference) > 31) continue;
    if (std::abs(std::log(here.scale / match.view.scale)) > std::log(1.6)) continue;
    best[match.window] = std::max(best[match.window], match.correlation);
  }
  warpalign::detail::HomographyHypothesis result{matrix, 0, 0};
  for (const double one : best) {
    result.windows += one > 0 ? 1U : 0U;
    result.votes += one;
  }
  return result;
}

}  // namespace

TEST_CASE("patch votes: the reported votes of a homography are those it has") {
  PatchVotes votes;
  for (std::uint32_t seed = 1; seed <= 6; ++seed) {
    CAPTURE(seed);
    const auto matches = mixed_matches(seed);
    VoteOptions options;
    options.tolerance = seed % 2 == 0 ? 3 : 2;
    const auto result = votes.find(matches, options);
    const std::vector found(result.begin(), result.end());
    REQUIRE_FALSE(found.empty());
    CHECK(test::max_corner_distance(found[0].matrix, truth(), shape) <= 8);
    for (const auto& agreed : found) {
      const auto expected = counted(agreed.matrix, matches, options);
      CHECK(agreed.windows == expected.windows);
      CHECK(agreed.votes == doctest::Approx(expected.votes));
      CHECK(agreed.windows >= options.min_inliers);
      CHECK(agreed.votes <= found[0].votes);
    }
    // Starts from a homography with fewer inliers, whose matches were searched along it.
    const Homography near = Homography(warpalign::Affine::translation(1.5, -1)) * truth();
    std::vector<PatchMatch> along = matches;
    for (PatchMatch& match : along) {
      match.view = warpalign::detail::view_of(near.affine_at(match.reference));
    }
    const auto before = counted(near, along, options);
    const auto improved = votes.improved({near, 1, 1}, along, options);
    CHECK(improved.votes > before.votes);
    CHECK(improved.votes == doctest::Approx(counted(improved.matrix, along, options).votes));
    CHECK(improved.windows == counted(improved.matrix, along, options).windows);
    // A homography that cannot be improved is kept, with its votes among these matches.
    const std::vector<PatchMatch> three(matches.begin() + 30, matches.begin() + 33);
    const auto kept = votes.improved({truth(), 30, 99}, three, options);
    CHECK(kept.matrix.h == truth().h);
    CHECK(kept.votes == doctest::Approx(counted(truth(), three, options).votes));
  }
}
