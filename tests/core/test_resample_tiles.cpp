// Tiles of a resampled image: the input that each needs, checked by the oracle in double
// precision. Needs no device.
#include "reference/spline/evaluate.hpp"
#include "reference/spline/prefilter.hpp"
#include "support/compare.hpp"
#include "support/volumes.hpp"
#include "tiles/equal_tiles.hpp"

#include <warpalign/error.hpp>
#include <warpalign/stages/prefilter.hpp>
#include <warpalign/tiles.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>
#include <utility>
#include <vector>

namespace {

using warpalign::Affine;
using warpalign::Boundary;
using warpalign::Error;
using warpalign::HomogeneousMatrix;
using warpalign::Point3;
using warpalign::PrefilterMethod;
using warpalign::Region;
using warpalign::ResampleSpec;
using warpalign::Shape;
using warpalign::Tile;
using Point = std::array<double, 3>;

/// The samples that prefilter_halo() leaves out along one axis weigh 2^-25 of the largest sample,
/// times the gain of the filter along the others (at most 3.3 each for degrees up to 5).
constexpr double truncation = 0x1p-25 * 3.3 * 3.3 * 3;

ResampleSpec spec_of(int dimensions, const Shape& image, const Shape& output, int degree,
                     Boundary boundary) {
  ResampleSpec spec;
  spec.images.shape = image;
  spec.output = output;
  spec.images.dimensions = dimensions;
  spec.spline.degree = degree;
  spec.spline.boundary = boundary;
  spec.spline.cval = 0.75;
  if (degree < 2) spec.spline.prefilter.reset();
  return spec;
}

reference::Spline spline_of(const ResampleSpec& spec, Boundary boundary,
                            const reference::Volume& samples) {
  const reference::Edge edge = test::edge_of(boundary);
  return spec.spline.prefilter ? reference::solve(samples, spec.images.dimensions,
                                                  spec.spline.degree, edge, spec.spline.cval)
                               : reference::unfiltered(samples, spec.images.dimensions,
                                                       spec.spline.degree, edge, spec.spline.cval);
}

/// The samples of a tile's input. A region that extends beyond the end continues at the beginning.
reference::Volume cut_out(const reference::Volume& samples, const Region& region) {
  reference::Volume part(region.shape.width, region.shape.height, region.shape.depth);
  reference::for_each_voxel(part.extents(), [&](auto x, auto y, auto z) {
    part.at(x, y, z) =
        samples.at((region.begin[0] + x) % samples.width, (region.begin[1] + y) % samples.height,
                   (region.begin[2] + z) % samples.depth);
  });
  return part;
}

Point applied(const HomogeneousMatrix& t, const Point& p) {
  const auto row = [&](std::size_t i) {
    return t.m[4 * i] * p[0] + t.m[4 * i + 1] * p[1] + t.m[4 * i + 2] * p[2] + t.m[4 * i + 3];
  };
  return {row(0) / row(3), row(1) / row(3), row(2) / row(3)};
}

/// Whether the value jumps: at the edges of `constant`, at the seams of `wrap`, and for degree 0
/// halfway between samples. There the last bit of a coordinate decides, and tiles may differ.
bool near_jump(const ResampleSpec& spec, const Point& p) {
  const std::array<std::int64_t, 3> extents{spec.images.shape.width, spec.images.shape.height,
                                            spec.images.shape.depth};
  for (std::size_t i = 0; i < static_cast<std::size_t>(spec.images.dimensions); ++i) {
    const double period = std::max(static_cast<double>(extents[i]) - 1, 1.0);
    const bool jumps =
        spec.spline.boundary == Boundary::constant || spec.spline.boundary == Boundary::wrap;
    if (jumps && std::abs(std::remainder(p[i], period)) < 1e-9) return true;
    if (spec.spline.degree == 0 && std::abs(std::remainder(p[i] - 0.5, 1)) < 1e-9) return true;
  }
  return false;
}

/// The largest difference between tiles and the whole image.
double difference(const ResampleSpec& spec, const HomogeneousMatrix& transform,
                  const std::vector<Tile>& tiles, const reference::Volume& samples) {
  const reference::Spline whole = spline_of(spec, spec.spline.boundary, samples);
  test::WorstError worst;
  for (const Tile& tile : tiles) {
    const reference::Volume part = cut_out(samples, tile.input);
    const reference::Spline spline = spline_of(spec, tile.boundary, part);
    const Shape& shape = tile.output.shape;
    for (std::int64_t i = 0; i < shape.pixels(); ++i) {
      const std::array<std::int64_t, 3> at{i % shape.width, i / shape.width % shape.height,
                                           i / shape.plane()};
      Point local{}, global{};
      for (std::size_t axis = 0; axis < 3; ++axis) {
        local[axis] = static_cast<double>(at[axis]);
        global[axis] = static_cast<double>(tile.output.begin[axis] + at[axis]);
      }
      const Point read_at = applied(transform, global);
      if (near_jump(spec, read_at)) continue;
      const double expected = reference::evaluate(whole, read_at).value;
      const double found = reference::evaluate(spline, applied(tile.output_to_input, local)).value;
      worst.add(std::abs(found - expected));
    }
  }
  return worst.value();
}

double difference(const ResampleSpec& spec, const HomogeneousMatrix& transform,
                  const Shape& tile_shape, const reference::Volume& samples) {
  const std::vector<Tile> tiles = warpalign::tiles(spec, transform, tile_shape);
  std::int64_t covered = 0;
  for (const Tile& tile : tiles) covered += tile.output.shape.pixels();
  CHECK(covered == spec.output.pixels());
  return difference(spec, transform, tiles, samples);
}

bool covers_output(const ResampleSpec& spec, const std::vector<Tile>& tiles) {
  std::vector<bool> covered(static_cast<std::size_t>(spec.output.pixels()));
  for (const Tile& tile : tiles) {
    const auto [x, y, z] = tile.output.begin;
    reference::for_each_voxel(
        {tile.output.shape.width, tile.output.shape.height, tile.output.shape.depth},
        [&](auto i, auto j, auto k) {
          const auto row = (z + k) * spec.output.height + y + j;
          covered.at(static_cast<std::size_t>(row * spec.output.width + x + i)) = true;
        });
  }
  return std::find(covered.begin(), covered.end(), false) == covered.end();
}

Affine rotated(double degrees, double factor, double x, double y) {
  const double c = factor * std::cos(degrees * std::numbers::pi / 180);
  const double s = factor * std::sin(degrees * std::numbers::pi / 180);
  return {c, -s, x, s, c, y};
}

/// The rows of a matrix near the identity, slightly rotated about every axis, and a shift.
HomogeneousMatrix random_transform(std::mt19937& engine, int dimensions, double largest_shift) {
  std::uniform_real_distribution<double> mixing(-0.3, 0.3), shift(-largest_shift, largest_shift);
  std::uniform_real_distribution<double> scale(-1.4, 1.4);
  HomogeneousMatrix t;
  for (std::size_t row = 0; row < static_cast<std::size_t>(dimensions); ++row) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(dimensions); ++i) {
      t.m[4 * row + i] = row == i ? scale(engine) : mixing(engine);
    }
    t.m[4 * row + 3] = shift(engine);
  }
  return t;
}

}  // namespace

TEST_CASE("tiles: the halo bounds the truncation of the prefilter") {
  for (int degree = 2; degree <= 5; ++degree) {
    CAPTURE(degree);
    const int halo = warpalign::prefilter_halo(degree);
    // The impulse response: coefficients of a single 1 in the middle of a long line.
    reference::Volume impulse(257);
    impulse.at(128) = 1;
    const reference::Spline response =
        reference::solve(impulse, 1, degree, reference::Edge::mirror);
    double beyond = 0;
    for (std::int64_t k = 128 + halo + 1; k < 257; ++k) {
      beyond += std::abs(response.coefficients.at(k));
    }
    CHECK(2 * beyond <= 0x1p-25);
    CHECK(2 * beyond >= 0x1p-30);  // and the halo is no larger than necessary
  }
  CHECK(warpalign::prefilter_halo(0) == 0);
  CHECK(warpalign::prefilter_halo(1) == 0);
}

TEST_CASE("tiles: equalised tiles share shapes and a boundary and compute the same") {
  const Shape image{97, 83, 1};
  const reference::Volume samples = test::random_volume(image, -1, 1, 72);
  for (const Boundary boundary : test::boundaries()) {
    for (const auto& [transform, shape] :
         {std::pair<HomogeneousMatrix, Shape>{rotated(17, 1, 11.3, -4.7), {20, 17, 1}},
          {rotated(-133, 2.3, -211.25, 190.4), {13, 50, 1}},
          {rotated(0, -0.9, 88.2, 76.1), {25, 20, 1}}}) {
      CAPTURE(std::string(warpalign::name_of(boundary)));
      const ResampleSpec spec = spec_of(2, image, {60, 50, 1}, 3, boundary);
      const auto tile_of_region = [&](const Region& region) {
        return warpalign::tile_of(spec, transform, region);
      };
      const std::vector<Tile> given = warpalign::tiles(spec, transform, shape);
      const auto equal_within = [&](std::size_t bytes) {
        return warpalign::detail::equal_tiles(spec, given, tile_of_region, {bytes});
      };
      const std::vector<Tile> equal = equal_within(1'000'000);
      REQUIRE(equal.size() == given.size());
      CHECK(covers_output(spec, equal));
      CHECK(difference(spec, transform, equal, samples) <= truncation);
      const bool periodic = boundary == Boundary::wrap || boundary == Boundary::grid_wrap;
      for (const Tile& tile : equal) {
        if (periodic) continue;
        CHECK(tile.input.shape == equal[0].input.shape);
        CHECK(tile.output.shape == equal[0].output.shape);
        CHECK(tile.boundary == equal[0].boundary);
      }
      const std::size_t needed = warpalign::tile_bytes(spec, equal[0]);
      const std::vector<Tile> unchanged = equal_within(needed - 1);
      CHECK(std::equal(unchanged.begin(), unchanged.end(), given.begin(), given.end(),
                       [](const Tile& a, const Tile& b) {
                         return a.input.shape == b.input.shape && a.output.shape == b.output.shape;
                       }));
    }
  }
}

TEST_CASE("tiles: every degree and boundary, rotated, inside the image and far beyond it") {
  const Shape image{97, 83, 1};
  const reference::Volume samples = test::random_volume(image, -1, 1, 71);
  for (const Boundary boundary : test::boundaries()) {
    for (int degree = 0; degree <= 5; ++degree) {
      CAPTURE(std::string(warpalign::name_of(boundary)));
      CAPTURE(degree);
      const ResampleSpec spec = spec_of(2, image, {60, 50, 1}, degree, boundary);
      CHECK(difference(spec, rotated(17, 1, 11.3, -4.7), {20, 17, 1}, samples) <= truncation);
      CHECK(difference(spec, rotated(-133, 2.3, -211.25, 190.4), {13, 50, 1}, samples) <=
            truncation);
    }
  }
}

TEST_CASE("tiles: lines and volumes") {
  const Shape line{301, 1, 1}, volume{43, 37, 41};
  const reference::Volume on_line = test::random_volume(line, -1, 1, 72);
  const reference::Volume in_space = test::random_volume(volume, -1, 1, 73);
  HomogeneousMatrix rotated_and_sheared = rotated(21, 0.9, 3.4, -6.3);
  rotated_and_sheared.m[10] = 1.1;
  rotated_and_sheared.m[11] = -5.6;
  for (const Boundary boundary : test::boundaries()) {
    for (const int degree : {1, 3, 4}) {
      CAPTURE(std::string(warpalign::name_of(boundary)));
      CAPTURE(degree);
      const ResampleSpec one = spec_of(1, line, {500, 1, 1}, degree, boundary);
      CHECK(difference(one, Affine{1.37, 0, -150.3, 0, 1, 0}, {64, 1, 1}, on_line) <= truncation);
      const ResampleSpec three = spec_of(3, volume, {24, 22, 20}, degree, boundary);
      CHECK(difference(three, rotated_and_sheared, {12, 11, 10}, in_space) <= truncation);
    }
  }
}

TEST_CASE("tiles: random transforms, shapes and tiles") {
  const std::uint32_t seed = 20261123;
  MESSAGE("seed " << seed);
  std::mt19937 engine(seed);
  const auto below = [&](std::uint32_t n) { return static_cast<std::int64_t>(engine() % n); };
  for (int round = 0; round < 120; ++round) {
    CAPTURE(round);
    const int dimensions = 1 + static_cast<int>(below(2));
    const Shape image{1 + below(120), dimensions < 2 ? 1 : 1 + below(90), 1};
    const Shape output{1 + below(60), dimensions < 2 ? 1 : 1 + below(40), 1};
    const Shape tile{1 + below(40), 1 + below(40), 1};
    const Boundary boundary = test::boundaries()[static_cast<std::size_t>(below(7))];
    const ResampleSpec spec =
        spec_of(dimensions, image, output, static_cast<int>(below(6)), boundary);
    const HomogeneousMatrix transform =
        random_transform(engine, dimensions, round % 3 == 0 ? 500 : 80);
    CAPTURE(warpalign::to_string(image));
    CAPTURE(std::string(warpalign::name_of(boundary)));
    CAPTURE(spec.spline.degree);
    const reference::Volume samples =
        test::random_volume(image, -1, 1, static_cast<std::uint32_t>(engine()));
    CHECK(difference(spec, transform, tile, samples) <= truncation);
  }
}

TEST_CASE("tiles: a homography, and one whose horizon crosses a tile") {
  const Shape image{120, 110, 1};
  const reference::Volume samples = test::random_volume(image, -1, 1, 74);
  const ResampleSpec spec = spec_of(2, image, {64, 48, 1}, 3, Boundary::nearest);
  const HomogeneousMatrix tilted =
      HomogeneousMatrix::homography({1.1, 0.1, 5, -0.05, 1.2, 3, 0.002, 0.001, 1});
  CHECK(difference(spec, tilted, {16, 16, 1}, samples) <= truncation);
  const HomogeneousMatrix horizon = HomogeneousMatrix::homography({1, 0, 5, 0, 1, 3, -0.05, 0, 1});
  const Tile tile = warpalign::tile_of(spec, horizon, {{16, 0, 0}, {16, 16, 1}});
  CHECK(tile.input.shape == image);  // points are everywhere
}

TEST_CASE("tiles: inputs are as small as support and halo allow") {
  const Shape image{20000, 20000, 1}, output{20000, 20000, 1};
  for (const Boundary boundary : test::boundaries()) {
    CAPTURE(std::string(warpalign::name_of(boundary)));
    const ResampleSpec spec = spec_of(2, image, output, 3, boundary);
    const Affine shift = Affine::translation(0.25, -0.5);
    // Inside the image, at a corner of it, and far outside, where the image repeats.
    const std::int64_t most = 256 + 2 * (warpalign::prefilter_halo(3) + 4);
    const Tile inner = warpalign::tile_of(spec, shift, {{8192, 8192, 0}, {256, 256, 1}});
    CHECK(inner.input.shape.width <= most);
    CHECK(inner.input.shape.height <= most);
    CHECK(inner.boundary == Boundary::mirror);
    const Tile far = warpalign::tile_of(spec, Affine::translation(1e6 + 0.3, -3e6),
                                        {{4096, 4096, 0}, {256, 256, 1}});
    CHECK(far.input.shape.width <= most);
    CHECK(far.input.shape.height <= most);
  }
  const ResampleSpec spec = spec_of(2, image, output, 3, Boundary::constant);
  CHECK(warpalign::tile_of(spec, Affine::translation(1e6, 0), {{0, 0, 0}, {9, 9, 1}}).outside);
  CHECK_FALSE(warpalign::tile_of(spec, Affine{}, {{0, 0, 0}, {9, 9, 1}}).outside);
}

TEST_CASE("tiles: the largest that fit into a memory, and none") {
  const ResampleSpec spec = spec_of(2, {4000, 3000, 1}, {4000, 3000, 1}, 3, Boundary::mirror);
  const Affine rotation = rotated(30, 1, 200, -900);
  CHECK(warpalign::tiles_within(spec, rotation, std::size_t{1} << 30).size() == 1);
  const std::size_t limit = std::size_t{8} << 20;
  const auto tiles = warpalign::tiles_within(spec, rotation, limit);
  CHECK(tiles.size() > 12);
  for (const Tile& tile : tiles) CHECK(warpalign::tile_bytes(spec, tile) <= limit);
  CHECK(warpalign::tiles_within(spec, rotation, std::size_t{1} << 30, std::size_t{1} << 20).size() >
        48);
  CHECK_THROWS_WITH_AS(static_cast<void>(warpalign::tiles_within(spec, rotation, 1000)),
                       doctest::Contains("WARPALIGN_MAX_DEVICE_MEMORY"), Error);
}

TEST_CASE("tiles: given points") {
  const ResampleSpec spec = spec_of(2, {300, 200, 1}, {1, 1, 1}, 3, Boundary::nearest);
  const Tile tile = warpalign::tile_for_points(spec, {100, 50, 0}, {120, 60, 0});
  CHECK(tile.input.begin[0] > 70);
  CHECK(tile.input.shape.width < 70);
  CHECK(tile.output_to_input.m[3] == -static_cast<double>(tile.input.begin[0]));
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const Tile all = warpalign::tile_for_points(spec, {-infinity, 50, 0}, {120, 60, 0});
  CHECK(all.input.shape.width == 300);
  CHECK_THROWS_WITH_AS(
      static_cast<void>(warpalign::tile_for_points(spec, {120, 50, 0}, {100, 60, 0})),
      doctest::Contains("above the highest"), Error);
}

TEST_CASE("tiles: wrong arguments are refused") {
  const ResampleSpec spec = spec_of(2, {30, 20, 1}, {30, 20, 1}, 3, Boundary::mirror);
  const auto refused = [](const ResampleSpec& bad, const Region& region, const char* words) {
    CHECK_THROWS_WITH_AS(static_cast<void>(warpalign::tile_of(bad, HomogeneousMatrix(), region)),
                         doctest::Contains(words), Error);
  };
  refused(spec, {{20, 0, 0}, {11, 20, 1}}, "not within");
  refused(spec, {{0, -1, 0}, {3, 3, 1}}, "not within");
  refused(spec, {{0, 0, 0}, {0, 3, 1}}, "not within");
  ResampleSpec bad = spec;
  bad.spline.degree = 1;
  refused(bad, {{0, 0, 0}, {3, 3, 1}}, "degree");
  bad = spec;
  bad.images.dimensions = 1;
  refused(bad, {{0, 0, 0}, {3, 3, 1}}, "dimensions");
  // The plan for a tile would refuse this only when it is created.
  bad = spec;
  bad.spline.prefilter = PrefilterMethod::fir;
  for (const int taps : {1, 14, 65}) {
    bad.spline.taps = taps;
    refused(bad, {{0, 0, 0}, {3, 3, 1}}, "odd number of taps");
  }
  bad.spline.taps = 15;
  bad.spline.degree = 5;
  refused(bad, {{0, 0, 0}, {3, 3, 1}}, "cubic");
  bad.spline.prefilter.reset();
  CHECK_NOTHROW(
      static_cast<void>(warpalign::tile_of(bad, HomogeneousMatrix(), {{0, 0, 0}, {3, 3, 1}})));
  bad = spec;
  bad.spline.cval = std::numeric_limits<double>::infinity();
  refused(bad, {{0, 0, 0}, {3, 3, 1}}, "cval");
  CHECK_THROWS_WITH_AS(static_cast<void>(warpalign::tiles(spec, HomogeneousMatrix(), {0, 5, 1})),
                       doctest::Contains("the tile"), Error);
}
