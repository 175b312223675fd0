// Edge strength images, and the homographies that their patches support.
#include "registration/proposers/edge_strength.hpp"

#include "registration/proposers/patch_search.hpp"
#include "registration/search/drawn_pair.hpp"
#include "support/corners.hpp"
#include "support/devices.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace {

namespace detail = warpalign::detail;
using detail::EdgeStrength;
using detail::PatchSearch;
using warpalign::Affine;
using warpalign::Homography;
using warpalign::Shape;
using warpalign::Similarity;

// Five times as large as the images that Spots is made for, and larger than the reach of its
// edges.
constexpr Shape shape{580, 435, 1};
constexpr double enlarged = 5;

warpalign::RegistrationOptions about(double degrees) {
  warpalign::RegistrationOptions options;
  options.min_angle = degrees - 8;
  options.max_angle = degrees + 8;
  options.min_scale = 1 / 1.1;
  options.max_scale = 1.1;
  return options;
}

// The error of the best of the homographies.
double best_of(std::span<const detail::HomographyHypothesis> found, const Homography& truth,
               const EdgeStrength* edges) {
  double best = INFINITY;
  for (const detail::HomographyHypothesis& agreed : found) {
    const Homography matrix = edges != nullptr ? edges->to_images(agreed.matrix) : agreed.matrix;
    best = std::min(best, test::max_corner_distance(matrix, truth, shape));
  }
  return best;
}

}  // namespace

TEST_CASE("edge strength: gradients are central differences where all neighbours count") {
  constexpr Shape small{4, 4, 1};
  std::vector<float> values;
  for (int y = 0; y < 4; ++y) {
    for (int x = 0; x < 4; ++x) values.push_back(static_cast<float>(3 * x + 4 * y));
  }
  std::vector<float> lengths;
  detail::gradient_lengths(small, values, {}, lengths);
  REQUIRE(lengths.size() == 16);
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    const bool inner = i == 5 || i == 6 || i == 9 || i == 10;
    CHECK(lengths[i] == (inner ? 5.0F : 0.0F));
  }
  std::vector<float> counts(16, 1);
  counts[1] = 0.4F;  // above pixel 5
  detail::gradient_lengths(small, values, counts, lengths);
  CHECK(lengths[5] == 0);
  CHECK(lengths[6] == 5);
}

TEST_CASE("edge strength: patches match when the contrast is reversed") {
  test::on_every_device([](const warpalign::Device& device) {
    test::DrawnPair pair(device, shape, shape);
    const test::Spots scene(31, 900);
    const Homography truth =
        Homography(Similarity{10, 1, {6, -4}}.matrix(shape, shape)) *
        test::moving_corners(shape, {{{20, 12}, {-18, 15}, {-12, -20}, {16, -14}}});
    const Homography to_scene(Affine{1 / enlarged, 0, 2, 0, 1 / enlarged, 10});
    std::vector<float> negative = scene.drawn(shape, to_scene * truth.inverse());
    for (float& value : negative) value = -value;
    pair.take(pair.reference, scene.drawn(shape, to_scene));
    pair.take(pair.moving, negative);
    const auto options = about(10);
    PatchSearch by_grey_levels(device, options);
    CHECK(best_of(by_grey_levels.find(pair.work()), truth, nullptr) > 30);
    EdgeStrength edges(device);
    const auto work = edges.of(pair.work());
    REQUIRE(work);
    PatchSearch by_edges(device, options, detail::edge_patch_grid);
    CHECK(best_of(by_edges.find(*work), truth, &edges) <= 12);
  });
}

TEST_CASE("edge strength: an image without edges gives none") {
  test::on_every_device([](const warpalign::Device& device) {
    constexpr Shape small{3, 3, 1};
    test::DrawnPair pair(device, small, small);
    pair.take(pair.reference, {0, 0, 1, 0, 0, 1, 0, 0, 1});
    pair.take(pair.moving, {1, 0, 0, 1, 0, 0, 1, 0, 1});
    // Only one of nine pixels has all its neighbours, and nothing is left within the border.
    EdgeStrength edges(device);
    CHECK_NOTHROW(static_cast<void>(edges.of(pair.work())));
  });
}
