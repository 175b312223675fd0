// The pixels of the overlap that two transforms share.
#include "registration/scoring/common_pixels.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <vector>

namespace {

using warpalign::Affine;
using warpalign::Homography;
using warpalign::Point;
using warpalign::Shape;
using warpalign::detail::find_common;
using warpalign::detail::WeightedPair;

constexpr Shape coarse{10, 8, 1};
constexpr Shape fine{14, 11, 1};

std::vector<float> weights(const Shape& shape) {
  return std::vector<float>(static_cast<std::size_t>(shape.plane()), 1.0F);
}

/// The counting pixels of the coarse image, among those in rows 1 to 6 and columns 2 to 9.
std::vector<std::uint8_t> all_but(std::vector<std::size_t> left_out) {
  std::vector<std::uint8_t> counts(static_cast<std::size_t>(coarse.plane()), 0);
  for (std::size_t y = 1; y <= 6; ++y) {
    for (std::size_t x = 2; x <= 9; ++x) counts[10 * y + x] = 1;
  }
  for (const std::size_t i : left_out) counts[i] = 0;
  return counts;
}

// The transforms map pixel (x, y) to (x + 1, y + 1) and to (x - 1, y + 2) of the fine image. Its
// pixels from 1 to below 12 and from 1 to below 9 are at least one pixel from its border.
const Affine one = Affine::translation(1, 1);
const Affine other = Affine::translation(-1, 2);

}  // namespace

TEST_CASE("common pixels: those that both transforms map into the image, and their distance") {
  std::vector<std::uint8_t> counts{7};
  const double distance = find_common({coarse, fine, {}, {}}, one, other, counts);
  CHECK(distance == doctest::Approx(std::sqrt(5.0)));
  std::vector<std::uint8_t> expected = all_but({});
  // row 0 counts, too: it is mapped to rows 1 and 2
  for (std::size_t x = 2; x <= 9; ++x) expected[x] = 1;
  CHECK(counts == expected);
}

TEST_CASE("common pixels: a pixel counts only if all three pixels involved count") {
  std::vector<float> coarse_weight = weights(coarse);
  std::vector<float> fine_weight = weights(fine);
  coarse_weight[10 * 3 + 4] = 0.99F;
  // the image of (8, 4) under one transform; under the other that of (10, 3), which is outside
  fine_weight[14 * 5 + 9] = 0;
  // the image of (2, 3) under one transform, and of (4, 2) under the other
  fine_weight[14 * 4 + 3] = 0;
  for (std::size_t x = 0; x < 14; ++x) fine_weight[14 * 1 + x] = 0;  // the image of row 0
  std::vector<std::uint8_t> counts;
  const double distance =
      find_common({coarse, fine, coarse_weight, fine_weight}, one, other, counts);
  CHECK(distance == doctest::Approx(std::sqrt(5.0)));
  CHECK(counts == all_but({10 * 3 + 4, 10 * 4 + 8, 10 * 3 + 2, 10 * 2 + 4}));
}

TEST_CASE("common pixels: none if the images do not overlap") {
  std::vector<std::uint8_t> counts;
  CHECK(find_common({coarse, fine, {}, {}}, one, Affine::translation(100, 0), counts) == 0);
  CHECK(counts == std::vector<std::uint8_t>(80, 0));
}

TEST_CASE("common pixels: a homography is evaluated pixel by pixel") {
  constexpr Shape wide{75, 9, 1};
  const Homography tilted({1.1, 0.1, -3, -0.02, 1.2, 0.5, 1e-3, -2e-3, 1});
  const Affine shift = Affine::translation(1.5, 0.25);
  const auto is_within = [&](Point q) { return q.x >= 1 && q.y >= 1 && q.x < 73 && q.y < 7; };
  std::vector<std::uint8_t> expected;
  double squares = 0;
  double pixels = 0;
  for (int i = 0; i < 75 * 9; ++i) {
    const Point p{static_cast<double>(i % 75), static_cast<double>(i / 75)};
    const Point q = tilted(p);
    const Point r = shift(p);
    const bool both = is_within(q) && is_within(r);
    expected.push_back(both ? 1 : 0);
    if (!both) continue;
    squares += (q.x - r.x) * (q.x - r.x) + (q.y - r.y) * (q.y - r.y);
    pixels += 1;
  }
  REQUIRE(pixels > 200);
  std::vector<std::uint8_t> counts;
  CHECK(find_common({wide, wide, {}, {}}, tilted, shift, counts) ==
        doctest::Approx(std::sqrt(squares / pixels)).epsilon(1e-12));
  CHECK(counts == expected);
}
