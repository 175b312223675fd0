// Homographies from votes of matches with known answers.
#include "registration/proposers/patch_votes.hpp"

#include "registration/search/oblique_plane.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

namespace {

using test::oblique_plane::shape;
using test::oblique_plane::truth;
using warpalign::Homography;
using warpalign::Point;
using warpalign::detail::PatchMatch;
using warpalign::detail::PatchVotes;
using warpalign::detail::VoteOptions;

struct Scene {
  double right = 1;        // the fraction of patches that match correctly at the right rotation
  double noise = 0.5;      // error of their positions in pixels
  double correlation = 2;  // correlation of correct matches, relative to the median of the others
};

// Matches of 30 patches at 24 rotations and one scale. Most are right at rotations near the true
// one, and none elsewhere.
std::vector<PatchMatch> matches_of(const Scene& scene, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform;
  std::normal_distribution<double> normal;
  std::vector<PatchMatch> matches;
  for (int rotation = 0; rotation < 360; rotation += 15) {
    const bool near = std::abs(rotation - 40) < 15;
    for (std::size_t w = 0; w < 30; ++w) {
      PatchMatch match;
      match.window = w;
      match.view.rotation_deg = rotation;
      match.reference = {14 + 16.8 * static_cast<double>(w % 6),
                         14 + 14 * static_cast<double>(w / 6)};
      const bool right = near && uniform(random) < scene.right;
      const Point position = truth()(match.reference);
      match.moving = right ? Point{position.x + scene.noise * normal(random),
                                   position.y + scene.noise * normal(random)}
                           : Point{112 * uniform(random), 84 * uniform(random)};
      match.correlation = right ? scene.correlation : 0.7 + 0.6 * uniform(random);
      matches.push_back(match);
    }
  }
  return matches;
}

}  // namespace

TEST_CASE("patch votes: views are neighbours up to one step of rotation and one of scale") {
  using warpalign::detail::are_neighbours;
  using warpalign::detail::PatchView;
  const PatchView view{170, 2};
  // The last rotation is beyond 180 degrees.
  for (const double rotation : {170.0, 140.0, -160.0}) {
    CAPTURE(rotation);
    for (const double scale : {2.0, 2 * 1.6, 2 / 1.6}) {
      CHECK(are_neighbours(view, {rotation, scale}));
      CHECK(are_neighbours({rotation, scale}, view));
    }
    CHECK_FALSE(are_neighbours(view, {rotation, 2 * 1.62}));
    CHECK_FALSE(are_neighbours(view, {rotation, 2 / 1.62}));
  }
  // Rotations may be up to half a turn apart.
  for (const double rotation : {138.0, -158.0, -10.0}) {
    CAPTURE(rotation);
    CHECK_FALSE(are_neighbours(view, {rotation, 2}));
  }
  CHECK_FALSE(are_neighbours({40, 1}, {-40, 1}));
}

TEST_CASE("patch votes: finds the homography among many wrong matches") {
  PatchVotes votes;
  for (const double right : {1.0, 0.6}) {
    CAPTURE(right);
    for (std::uint32_t seed = 1; seed <= 5; ++seed) {
      const auto found = votes.find(matches_of({right, 0.5, 1.5}, seed), VoteOptions{});
      REQUIRE_FALSE(found.empty());
      CHECK(found[0].windows >= static_cast<std::size_t>(30 * right * 0.7));
      // Positions are off by 0.5 px in each of about twenty patches. The corners lie half the
      // distance between patches beyond the outermost centres.
      CHECK(test::max_corner_distance(found[0].matrix, truth(), shape) <= 4);
    }
  }
}

TEST_CASE("patch votes: exact positions give the exact homography") {
  PatchVotes votes;
  const auto found = votes.find(matches_of({1, 0, 2}, 1), VoteOptions{});
  REQUIRE_FALSE(found.empty());
  CHECK(found[0].windows == 30);
  CHECK(test::max_corner_distance(found[0].matrix, truth(), shape) <= 1e-6);
}

TEST_CASE("patch votes: random positions give few votes") {
  PatchVotes votes;
  std::size_t most = 0;
  for (std::uint32_t seed = 1; seed <= 10; ++seed) {
    for (const auto& found : votes.find(matches_of({0, 0, 1}, seed), VoteOptions{})) {
      most = std::max(most, found.windows);
    }
  }
  CHECK(most <= 12);  // of 30; the whole images decide about the result
  CHECK(votes.find({}, VoteOptions{}).empty());
}

TEST_CASE("patch votes: finds two shifts in one view, one of which has fewer patches") {
  constexpr Point far{22, 6};
  constexpr Point near{-14, -9};
  for (const double noise : {0.0, 0.7}) {
    CAPTURE(noise);
    std::mt19937 random(2);
    std::normal_distribution<double> normal(0, 1);
    std::vector<PatchMatch> matches;
    for (std::size_t w = 0; w < 30; ++w) {
      PatchMatch match;
      match.window = w;
      match.reference = {14 + 16.8 * static_cast<double>(w % 6),
                         14 + 14 * static_cast<double>(w / 6)};
      const Point shift = w % 5 < 3 ? far : near;
      match.moving = {match.reference.x + shift.x + noise * normal(random),
                      match.reference.y + shift.y + noise * normal(random)};
      match.correlation = 2;
      matches.push_back(match);
    }
    PatchVotes votes;
    const auto found = votes.find(matches, VoteOptions{});
    for (const Point& shift : {far, near}) {
      CAPTURE(shift.x);
      // With exact positions only rounding in a fit to a dozen of them is left; otherwise corners
      // are off by a few times the noise.
      CHECK(std::any_of(found.begin(), found.end(), [&](const auto& agreed) {
        const Homography expected(warpalign::Affine::translation(shift.x, shift.y));
        return test::max_corner_distance(agreed.matrix, expected, shape) < 1e-6 + 6 * noise;
      }));
    }
  }
}

TEST_CASE("patch votes: needs the required number of patches, and returns at most the maximum") {
  PatchVotes votes;
  const auto matches = matches_of({1, 0, 2}, 3);
  VoteOptions options;
  options.min_inliers = 30;
  REQUIRE_FALSE(votes.find(matches, options).empty());
  options.min_inliers = 31;
  CHECK(votes.find(matches, options).empty());
  options.min_inliers = 7;
  options.min_correlation = 1.99;
  CHECK_FALSE(votes.find(matches, options).empty());
  options.min_correlation = 2.01;
  CHECK(votes.find(matches, options).empty());
}

TEST_CASE("patch votes: a view rotates, scales and stretches along its direction") {
  const double degree = std::acos(-1.0) / 180;
  for (const double direction : {0.0, 45.0, 120.0}) {
    for (const double stretch : {1.0, 2.0, 3.5}) {
      const warpalign::detail::PatchView view{25, 1.3, stretch, direction};
      const warpalign::Affine linear = view.linear();
      CHECK(linear.c == 0);
      CHECK(linear.f == 0);
      // The area grows by the square of the scale.
      CHECK(linear.a * linear.e - linear.b * linear.d == doctest::Approx(1.3 * 1.3));
      // Lengths along the direction grow by the square root of the stretch, and lengths across it
      // shrink by as much.
      const double c = std::cos(direction * degree);
      const double s = std::sin(direction * degree);
      const Point along = linear({c, s});
      const Point across = linear({-s, c});
      CHECK(std::hypot(along.x, along.y) == doctest::Approx(1.3 * std::sqrt(stretch)));
      CHECK(std::hypot(across.x, across.y) == doctest::Approx(1.3 / std::sqrt(stretch)));
      CHECK(along.x * across.x + along.y * across.y == doctest::Approx(0).epsilon(1e-12));
      // Both directions rotate counter-clockwise as displayed.
      CHECK(along.x == doctest::Approx(1.3 * std::sqrt(stretch) *
                                       (c * std::cos(25 * degree) + s * std::sin(25 * degree))));
      const auto back = warpalign::detail::view_of(linear);
      CHECK(back.rotation_deg == doctest::Approx(25));
      CHECK(back.scale == doctest::Approx(1.3));
      CHECK(back.stretch == 1);
    }
  }
}

TEST_CASE("patch votes: the homography of many matches is exact, and the same in all units") {
  const auto matches = matches_of({1, 0, 2}, 4);
  std::vector<PatchMatch> right;
  for (const PatchMatch& match : matches) {
    if (match.view.rotation_deg == 45) right.push_back(match);
  }
  for (const double unit : {1e-3, 1.0, 1e3}) {
    for (const std::size_t count : {4U, 5U, 30U}) {
      CAPTURE(unit);
      CAPTURE(count);
      std::vector<PatchMatch> some(right.begin(),
                                   right.begin() + static_cast<std::ptrdiff_t>(count));
      if (count < 30) {
        some[1] = right[29];
        some[3] = right[24];
      }
      for (PatchMatch& match : some) {
        match.reference = {unit * match.reference.x - 5, unit * match.reference.y + 3};
        match.moving = {2 * unit * match.moving.x, 2 * unit * match.moving.y};
      }
      const auto found = warpalign::detail::homography_of(some);
      REQUIRE(found.has_value());
      CHECK(found->h[8] == 1);
      for (const PatchMatch& match : some) {
        const Point p = (*found)(match.reference);
        CHECK(std::hypot(p.x - match.moving.x, p.y - match.moving.y) <= 1e-6 * unit);
      }
    }
  }
}

TEST_CASE("patch votes: collinear points determine no homography") {
  std::vector<PatchMatch> matches(8);
  for (std::size_t i = 0; i < matches.size(); ++i) {
    matches[i].reference = {static_cast<double>(i), 2 * static_cast<double>(i)};
    matches[i].moving = {static_cast<double>(i) + 5, 3.0};
  }
  CHECK_FALSE(warpalign::detail::homography_of(matches).has_value());
  CHECK_FALSE(warpalign::detail::homography_of(std::span(matches).first(3)).has_value());
}

namespace {

using Quad = std::array<Point, 4>;

Quad mapped(const Homography& m, const Quad& points) {
  Quad result;
  std::transform(points.begin(), points.end(), result.begin(), m);
  return result;
}

}  // namespace

TEST_CASE("patch votes: four points determine a homography") {
  using warpalign::detail::homography_between;
  const Quad square{{{14, 14}, {98, 14}, {14, 70}, {98, 70}}};
  const Quad one_amid_three{{{50, 40}, {14, 14}, {98, 20}, {40, 70}}};
  const auto is_before = [](Point a, Point b) { return std::pair(a.x, a.y) < std::pair(b.x, b.y); };
  for (Quad from : {square, one_amid_three}) {
    std::sort(from.begin(), from.end(), is_before);
    do {
      const auto found = homography_between(from, mapped(truth(), from));
      REQUIRE(found.has_value());
      CHECK(found->h[8] == 1);
      CHECK(test::max_corner_distance(*found, truth(), shape) <= 1e-9);
    } while (std::next_permutation(from.begin(), from.end(), is_before));
  }
}

TEST_CASE("patch votes: four points suffice, however close they are") {
  using warpalign::detail::homography_between;
  const Quad square{{{14, 14}, {98, 14}, {14, 70}, {98, 70}}};
  for (const double unit : {1e-4, 1e4}) {
    CAPTURE(unit);
    const auto in_units = [unit](Quad points) {
      for (Point& p : points) p = {unit * p.x, unit * p.y};
      return points;
    };
    const auto found = homography_between(in_units(square), in_units(mapped(truth(), square)));
    REQUIRE(found.has_value());
    for (const Point p : square) {
      const Point q = (*found)({unit * p.x, unit * p.y});
      // All but the last few digits agree.
      CHECK(q.x / unit == doctest::Approx(truth()(p).x).epsilon(1e-10));
      CHECK(q.y / unit == doctest::Approx(truth()(p).y).epsilon(1e-10));
    }
  }
}

TEST_CASE("patch votes: four points that no view of a plane can produce are refused") {
  using warpalign::detail::homography_between;
  Quad from{{{14, 14}, {98, 14}, {14, 70}, {98, 70}}};
  CHECK(homography_between(from, from).has_value());
  // Mirrored, folded over a diagonal, with two points at one position, and with three on a line.
  CHECK_FALSE(homography_between(from, {{{98, 14}, {14, 14}, {98, 70}, {14, 70}}}).has_value());
  CHECK_FALSE(homography_between(from, {{{14, 14}, {98, 14}, {14, 70}, {30, 30}}}).has_value());
  CHECK_FALSE(homography_between(from, {{{14, 14}, {98, 14}, {14, 70}, {14, 70}}}).has_value());
  const Quad on_a_line{{{14, 14}, {30.8, 28}, {47.6, 42}, {98, 14}}};
  for (std::size_t first = 0; first < 4; ++first) {
    Quad reordered = on_a_line;
    std::rotate(reordered.begin(), reordered.begin() + static_cast<std::ptrdiff_t>(first),
                reordered.end());
    CHECK_FALSE(homography_between(reordered, mapped(truth(), reordered)).has_value());
    CHECK_FALSE(homography_between(reordered, from).has_value());
    CHECK_FALSE(homography_between(from, reordered).has_value());
  }
  // Each of the four points folded over a diagonal, and moved almost onto a line with two others.
  for (std::size_t corner = 0; corner < 4; ++corner) {
    Quad folded = from;
    const Point opposite = from[3 - corner];
    folded[corner] = {0.8 * opposite.x + 0.2 * from[corner].x,
                      0.8 * opposite.y + 0.2 * from[corner].y};
    for (int first = 0; first < 4; ++first) {
      std::rotate(from.begin(), from.begin() + 1, from.end());
      std::rotate(folded.begin(), folded.begin() + 1, folded.end());
      CHECK_FALSE(homography_between(from, folded).has_value());
      CHECK_FALSE(homography_between(folded, from).has_value());
    }
  }
  for (const double rounding : {-1e-9, 1e-9}) {
    const Quad nearly{{{-38, -16}, {46, -16}, {4, -16 + rounding}, {-12, 40}}};
    Quad clearly = nearly;
    clearly[2].y += 1e9 * rounding;
    CHECK(homography_between(clearly, clearly).has_value());
    CHECK_FALSE(homography_between(nearly, clearly).has_value());
  }
  // The horizon runs between the points and the origin, and then among the points.
  Homography horizon({-1, 0, 0, 0, 1, 0, -0.1, 0, 1});  // x = 10
  CHECK_FALSE(homography_between(from, mapped(horizon, from)).has_value());
  horizon.h[6] = -0.02;  // x = 50
  CHECK_FALSE(homography_between(from, mapped(horizon, from)).has_value());
}
