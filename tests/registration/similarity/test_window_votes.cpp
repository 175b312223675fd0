// Homographies that windows agree on, from matches with known answers.
#include "registration/similarity/window_votes.hpp"

#include "support/corners.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace {

using warpalign::Homography;
using warpalign::Point;
using warpalign::Shape;
using warpalign::detail::VoteOptions;
using warpalign::detail::WindowMatch;
using warpalign::detail::WindowVotes;

constexpr Shape shape{112, 84, 1};

// Strong perspective on top of a rotation by 40 degrees.
Homography truth() {
  return Homography(warpalign::Similarity{40, 1, {5, -3}}.matrix(shape, shape)) *
         test::moving_corners(shape, {{{9, 6}, {-12, 9}, {-7, -11}, {10, -8}}});
}

struct Scene {
  double right = 1;        // how many windows are found where they belong, at the right rotation
  double noise = 0.5;      // of their places, in pixels
  double correlation = 2;  // of these, relative to the others' median
};

// Matches of 30 windows at 24 rotations and one scale: at rotations near the right one most are
// right, everywhere else none.
std::vector<WindowMatch> matches_of(const Scene& scene, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform;
  std::normal_distribution<double> normal;
  std::vector<WindowMatch> matches;
  for (int rotation = 0; rotation < 360; rotation += 15) {
    const bool near = std::abs(rotation - 40) < 15;
    for (std::size_t w = 0; w < 30; ++w) {
      WindowMatch match;
      match.window = w;
      match.view.rotation_deg = rotation;
      match.reference = {14 + 16.8 * static_cast<double>(w % 6),
                         14 + 14 * static_cast<double>(w / 6)};
      const bool right = near && uniform(random) < scene.right;
      const Point place = truth()(match.reference);
      match.moving = right ? Point{place.x + scene.noise * normal(random),
                                   place.y + scene.noise * normal(random)}
                           : Point{112 * uniform(random), 84 * uniform(random)};
      match.correlation = right ? scene.correlation : 0.7 + 0.6 * uniform(random);
      matches.push_back(match);
    }
  }
  return matches;
}

}  // namespace

TEST_CASE("window votes: views are neighbours up to a step of rotation and one of scale") {
  using warpalign::detail::are_neighbours;
  using warpalign::detail::WindowView;
  const WindowView view{170, 2};
  // The last rotation is on the other side of 180 degrees.
  for (const double rotation : {170.0, 140.0, -160.0}) {
    CAPTURE(rotation);
    for (const double scale : {2.0, 2 * 1.6, 2 / 1.6}) {
      CHECK(are_neighbours(view, {rotation, scale}));
      CHECK(are_neighbours({rotation, scale}, view));
    }
    CHECK_FALSE(are_neighbours(view, {rotation, 2 * 1.62}));
    CHECK_FALSE(are_neighbours(view, {rotation, 2 / 1.62}));
  }
  // Half a turn apart is as far as can be.
  for (const double rotation : {138.0, -158.0, -10.0}) {
    CAPTURE(rotation);
    CHECK_FALSE(are_neighbours(view, {rotation, 2}));
  }
  CHECK_FALSE(are_neighbours({40, 1}, {-40, 1}));
}

TEST_CASE("window votes: the homography is found among many wrong places") {
  WindowVotes votes;
  for (const double right : {1.0, 0.6}) {
    CAPTURE(right);
    for (std::uint32_t seed = 1; seed <= 5; ++seed) {
      const auto found = votes.find(matches_of({right, 0.5, 1.5}, seed), VoteOptions{});
      REQUIRE_FALSE(found.empty());
      CHECK(found[0].windows >= static_cast<std::size_t>(30 * right * 0.7));
      // Places are off by 0.5 px in each of some twenty windows; corners lie half a window's
      // distance beyond the outermost centres.
      CHECK(test::max_corner_distance(found[0].matrix, truth(), shape) <= 4);
    }
  }
}

TEST_CASE("window votes: exact places give the exact homography") {
  WindowVotes votes;
  const auto found = votes.find(matches_of({1, 0, 2}, 1), VoteOptions{});
  REQUIRE_FALSE(found.empty());
  CHECK(found[0].windows == 30);
  CHECK(test::max_corner_distance(found[0].matrix, truth(), shape) <= 1e-6);
}

TEST_CASE("window votes: places at random hardly agree") {
  WindowVotes votes;
  std::size_t most = 0;
  for (std::uint32_t seed = 1; seed <= 10; ++seed) {
    for (const auto& found : votes.find(matches_of({0, 0, 1}, seed), VoteOptions{})) {
      most = std::max(most, found.windows);
    }
  }
  CHECK(most <= 12);  // of 30: what is found is judged by the whole images
  CHECK(votes.find({}, VoteOptions{}).empty());
}

TEST_CASE("window votes: of one view two shifts are found, of which one has fewer windows") {
  constexpr Point far{22, 6};
  constexpr Point near{-14, -9};
  std::vector<WindowMatch> matches;
  for (std::size_t w = 0; w < 30; ++w) {
    WindowMatch match;
    match.window = w;
    match.reference = {14 + 16.8 * static_cast<double>(w % 6),
                       14 + 14 * static_cast<double>(w / 6)};
    const Point shift = w % 5 < 3 ? far : near;
    match.moving = {match.reference.x + shift.x, match.reference.y + shift.y};
    match.correlation = 2;
    matches.push_back(match);
  }
  WindowVotes votes;
  const auto found = votes.find(matches, VoteOptions{});
  for (const Point& shift : {far, near}) {
    CAPTURE(shift.x);
    // Places are exact; what is left is rounding in a fit to a dozen of them.
    CHECK(std::any_of(found.begin(), found.end(), [&](const auto& agreed) {
      const Homography expected(warpalign::Affine::translation(shift.x, shift.y));
      return test::max_corner_distance(agreed.matrix, expected, shape) < 1e-6;
    }));
  }
}

TEST_CASE("window votes: points on a line determine no homography") {
  std::vector<WindowMatch> matches(8);
  for (std::size_t i = 0; i < matches.size(); ++i) {
    matches[i].reference = {static_cast<double>(i), 2 * static_cast<double>(i)};
    matches[i].moving = {static_cast<double>(i) + 5, 3.0};
  }
  CHECK_FALSE(warpalign::detail::homography_of(matches).has_value());
  CHECK_FALSE(warpalign::detail::homography_of(std::span(matches).first(3)).has_value());
}
