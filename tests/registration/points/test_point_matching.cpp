// The similarity between two sets of point sources: what is found, and what its significance says.
#include "registration/points/point_matching.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <optional>
#include <random>
#include <vector>

namespace {

using warpalign::Affine;
using warpalign::Point;
using warpalign::Shape;
using warpalign::Similarity;
using warpalign::detail::PointAgreement;
using warpalign::detail::PointMatching;
using warpalign::detail::PointMotion;
using warpalign::detail::PointSource;

constexpr Shape shape{400, 300, 1};
constexpr double deviation = 0.1;  // of each place

using Sources = std::vector<PointSource>;

Sources random_sources(std::mt19937& random, int count) {
  std::uniform_real_distribution<double> x(0, 399);
  std::uniform_real_distribution<double> y(0, 299);
  Sources sources;
  for (int i = 0; i < count; ++i) {
    sources.push_back({{x(random), y(random)}, deviation * deviation, 20.0 - 0.1 * i});
  }
  return sources;
}

// The sources that lie in the image after the transform, in another order, with errors.
Sources moved(std::mt19937& random, const Sources& sources, const Affine& matrix) {
  std::normal_distribution<double> error(0, deviation);
  Sources result;
  for (auto source = sources.rbegin(); source != sources.rend(); ++source) {
    const Point place = matrix(source->place);
    if (place.x < 0 || place.y < 0 || place.x > 399 || place.y > 299) continue;
    result.push_back({{place.x + error(random), place.y + error(random)}, source->variance, 10});
  }
  return result;
}

std::optional<PointAgreement> match(const Sources& reference, const Sources& moving,
                                    const PointMotion& motion) {
  PointMatching matching;
  return matching.match(reference, shape, moving, shape, motion);
}

PointMotion any_similarity() { return {true, true, 0.125, 8, {}}; }

double distance_at_corners(const Affine& a, const Affine& b) {
  double largest = 0;
  for (const Point corner : {Point{0, 0}, Point{399, 0}, Point{0, 299}, Point{399, 299}}) {
    const Point p = a(corner);
    const Point q = b(corner);
    largest = std::max(largest, std::hypot(p.x - q.x, p.y - q.y));
  }
  return largest;
}

}  // namespace

TEST_CASE("points: sources agree on the similarity that moves them, among false ones") {
  std::mt19937 random(1);
  for (const double degrees : {0.0, 30.0, 117.0, -160.0}) {
    CAPTURE(degrees);
    const Affine truth = Similarity{degrees, 1.1, {8, -5}}.matrix(shape, shape);
    Sources reference = random_sources(random, 25);
    Sources moving = moved(random, reference, truth);
    const auto shown = static_cast<int>(moving.size());
    for (const PointSource& false_source : random_sources(random, 8)) {
      moving.push_back(false_source);
    }
    const auto found = match(reference, moving, any_similarity());
    REQUIRE(found);
    // 13 to 25 sources with errors of 0.1 pixels in both images: 0.14 / sqrt(13), at the corners
    // three times that.
    CHECK(distance_at_corners(found->matrix, truth) < 0.3);
    CHECK(found->matched >= shown - 1);
    CHECK(found->z_score > 8);
    CHECK(found->other_ratio < 0.7);
  }
}

TEST_CASE("points: unrelated sources agree no more than chance explains") {
  std::mt19937 random(2);
  for (int i = 0; i < 20; ++i) {
    CAPTURE(i);
    const auto found =
        match(random_sources(random, 25), random_sources(random, 25), any_similarity());
    if (!found) continue;
    // The best of 10^5 trials has about this probability: 4.3 deviations, and once in 10^4 searches
    // 6.
    CHECK(found->z_score < 6);
    CHECK(found->trials > 1e4);
  }
}

TEST_CASE("points: a lattice of sources agrees on many shifts") {
  Sources lattice;
  for (int y = 0; y < 6; ++y) {
    for (int x = 0; x < 8; ++x) lattice.push_back({{30.0 + 45 * x, 30.0 + 45 * y}, 0.01, 20});
  }
  const auto found = match(lattice, lattice, any_similarity());
  REQUIRE(found);
  CHECK(found->other_ratio > 0.85);
}

TEST_CASE("points: a small part of a lattice agrees on another shift as well") {
  // The moving image shows the lattice shifted by one of its 5 columns: no shift agrees as well,
  // but others match all of what they have in common.
  Sources reference;
  Sources moving;
  for (int y = 0; y < 4; ++y) {
    for (int x = 0; x < 5; ++x) {
      reference.push_back({{20.0 + 80 * x, 25.0 + 80 * y}, 0.01, 20});
      moving.push_back({{24.0 + 80 * x, 22.0 + 80 * y}, 0.01, 20});
    }
  }
  for (const bool rotates : {false, true}) {
    CAPTURE(rotates);
    const auto found = match(reference, moving, {rotates, rotates, 0.125, 8, {}});
    REQUIRE(found);
    CHECK(found->other_ratio > 0.85);
  }
}

TEST_CASE("points: a motion without rotation or scale finds no other") {
  std::mt19937 random(3);
  const Sources reference = random_sources(random, 25);
  const Sources turned = moved(random, reference, Similarity{25, 1, {0, 0}}.matrix(shape, shape));
  const Sources larger = moved(random, reference, Similarity{0, 1.2, {0, 0}}.matrix(shape, shape));
  const Affine shift = Affine::translation(7.25, -3.5);
  const Sources shifted = moved(random, reference, shift);

  const PointMotion translation{false, false, 1, 1, {}};
  const PointMotion rigid{true, false, 1, 1, {}};
  const auto by_translation = match(reference, shifted, translation);
  REQUIRE(by_translation);
  // The mean of about 24 sources with errors of 0.14 pixels, five deviations.
  CHECK(distance_at_corners(by_translation->matrix, shift) < 0.15);
  CHECK(by_translation->matrix.b == 0);
  CHECK(by_translation->z_score > 8);
  const auto of_turned = match(reference, turned, translation);
  CHECK((!of_turned || of_turned->z_score < 6));
  const auto of_larger = match(reference, larger, rigid);
  CHECK((!of_larger || of_larger->z_score < 6));
  const auto by_rigid = match(reference, turned, rigid);
  REQUIRE(by_rigid);
  CHECK(by_rigid->z_score > 8);
  CHECK(std::hypot(by_rigid->matrix.a, by_rigid->matrix.d) == doctest::Approx(1).epsilon(1e-12));
}

TEST_CASE("points: limits exclude the transform") {
  std::mt19937 random(4);
  const Sources reference = random_sources(random, 25);
  const Sources moving = moved(random, reference, Similarity{40, 1, {0, 0}}.matrix(shape, shape));
  PointMotion motion = any_similarity();
  motion.allows = [](const Affine& matrix) { return std::abs(matrix.d) < 0.3; };
  const auto found = match(reference, moving, motion);
  CHECK((!found || found->z_score < 6));
}

TEST_CASE("points: crowded sources match by chance more often, and count for less") {
  // Two clusters of 60 sources within 40 pixels. Any shift of one upon the other matches some.
  std::mt19937 random(5);
  std::normal_distribution<double> around(0, 12);
  const auto cluster = [&] {
    Sources sources;
    for (int i = 0; i < 60; ++i) {
      sources.push_back({{200 + around(random), 150 + around(random)}, 0.01, 20.0 - 0.1 * i});
    }
    return sources;
  };
  for (int i = 0; i < 5; ++i) {
    const auto found = match(cluster(), cluster(), any_similarity());
    CHECK((!found || found->z_score < 6));
  }
}
