// Numerics of tiles and column blocks, which core shares with the backends.
#include <warpalign/backend/column_blocks.hpp>
#include <warpalign/backend/tiles.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <numbers>
#include <random>

namespace {

using warpalign::HomogeneousMatrix;
using warpalign::Shape;
using warpalign::backend::InterpolateDetails;
using warpalign::backend::tile_source;
using Rule = InterpolateDetails::Points;

constexpr Shape output{640, 480, 1};

HomogeneousMatrix rotated(double degrees, double scale) {
  const double angle = degrees * std::numbers::pi / 180;
  const double c = scale * std::cos(angle);
  const double s = scale * std::sin(angle);
  return warpalign::Affine{c, -s, 31.25, s, c, -7.5};
}

int below(double x, int degree) {
  return static_cast<int>(std::floor(degree % 2 == 0 ? x + 0.5 : x));
}

}  // namespace

TEST_CASE("tiles: the box of a tile holds every neighbour of every point") {
  std::mt19937 engine(5);
  std::uniform_int_distribution<int> corner(0, 400);
  for (const double degrees : {0.0, 17.0, 45.0, 90.0, 203.0}) {
    const HomogeneousMatrix t = rotated(degrees, 1.3);
    for (const int degree : {3, 4, 5}) {
      const auto source = tile_source(t, output, Rule::free, 2, degree, {64, 32, 1});
      REQUIRE(source);
      const double x0 = corner(engine);
      const double y0 = corner(engine);
      for (std::size_t axis = 0; axis < 2; ++axis) {
        const double* row = t.m.data() + 4 * axis;
        const double origin = row[0] * x0 + row[1] * y0 + row[3];
        const int least = static_cast<int>(std::floor(origin + source->minimum[axis]));
        // Along x the box begins at a multiple of 4, in the worst case three before.
        const int first = least - degree / 2 - 1;
        const int end = first + source->extent[axis] - (axis == 0 ? 3 : 0);
        for (int y = 0; y < 32; ++y) {
          for (int x = 0; x < 64; ++x) {
            const int neighbour = below(origin + row[0] * x + row[1] * y, degree) - degree / 2;
            if (neighbour < first || neighbour + degree >= end) FAIL("outside the box");
          }
        }
      }
    }
  }
}

TEST_CASE("tiles: a matrix is split into multiples of 2^-16 and the remainder") {
  const HomogeneousMatrix t = rotated(17, 1);
  const auto source = tile_source(t, output, Rule::free, 2, 3, {64, 64, 1});
  REQUIRE(source);
  for (std::size_t axis = 0; axis < 2; ++axis) {
    for (std::size_t i = 0; i < 2; ++i) {
      const double high = source->high[axis][i];
      CHECK(high * 65536 == std::rint(high * 65536));
      // Half of 2^-16, rounded to float.
      CHECK(std::abs(high + source->low[axis][i] - t.m[4 * axis + i]) < 0x1p-17 * 0x1p-24);
    }
  }
}

TEST_CASE(
    "tiles: none for transforms that are not affine, too far or too sparse, or under `wrap`") {
  const auto has_tiles = [](const HomogeneousMatrix& t, Rule rule) {
    return tile_source(t, output, rule, 2, 3, {64, 64, 1}).has_value();
  };
  CHECK(has_tiles({}, Rule::free));
  CHECK(has_tiles({}, Rule::reject_outside));
  CHECK_FALSE(has_tiles({}, Rule::period_minus_one));
  CHECK_FALSE(
      has_tiles(HomogeneousMatrix::homography({1, 0, 0, 0, 1, 0, 0.001, 0, 1}), Rule::free));
  CHECK_FALSE(has_tiles(warpalign::Affine::translation(1e9, 0), Rule::free));
  CHECK_FALSE(has_tiles(warpalign::Affine::translation(std::nan(""), 0), Rule::free));
  CHECK_FALSE(has_tiles(rotated(0, 5), Rule::free));
}

TEST_CASE("column blocks: the last round of groups is as full as possible") {
  using warpalign::backend::chunks_per_column_block;
  // 12 chunks, one column. With two slots, blocks of 6 take one round, and blocks of 5 two.
  CHECK(chunks_per_column_block({144, 1, 12, 2}, 2, 8) == 6);
  // One slot: longer blocks have fewer warm-ups, and 6 divides 12.
  CHECK(chunks_per_column_block({144, 1, 12, 1}, 2, 8) == 6);
  // A slot for each block: the shortest blocks finish first.
  CHECK(chunks_per_column_block({144, 1, 12, 1000}, 2, 8) == 2);
}
