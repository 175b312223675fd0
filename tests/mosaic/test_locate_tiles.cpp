// Mosaics on devices: drawn tiles, whose positions are known.
#include "mosaic/drawn_mosaic.hpp"
#include "support/devices.hpp"

#include <warpalign/error.hpp>
#include <warpalign/mosaic.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace warpalign;
using test::DrawnMosaic;
using test::MosaicDrawing;

// What users are promised where every tile has texture, in pixels.
constexpr double promised_rms = 0.05;

Mosaic located(const Device& device, const DrawnMosaic& drawn, const MosaicOptions& options = {}) {
  return locate_tiles({&device, 1}, drawn.tiles, drawn.source(), options);
}

std::size_t used(const Mosaic& mosaic) {
  return static_cast<std::size_t>(
      std::count_if(mosaic.pairs.begin(), mosaic.pairs.end(),
                    [](const MosaicPair& p) { return p.outcome == PairOutcome::used; }));
}

TEST_CASE("tiles are located to hundredths of a pixel") {
  test::on_every_device([](const Device& device) {
    for (const double overlap : {0.2, 0.1}) {
      CAPTURE(overlap);
      const DrawnMosaic drawn({.tile = {260, 240, 1}, .overlap = overlap, .noise = 2.5});
      const Mosaic mosaic = located(device, drawn);
      CHECK(used(mosaic) == mosaic.pairs.size());
      CHECK(mosaic.pairs.size() == 17);
      CHECK(mosaic.components == 1);
      CHECK(test::rms_of(test::position_errors(mosaic, drawn.truth)) < promised_rms);
      // Residuals and positions are of one system.
      for (const MosaicPair& pair : mosaic.pairs) {
        const Point& from = mosaic.tiles[pair.reference].position;
        const Point& to = mosaic.tiles[pair.moving].position;
        CHECK(pair.residual.x == doctest::Approx(pair.shift.x - (to.x - from.x)));
        CHECK(std::hypot(pair.residual.x, pair.residual.y) < 3 * promised_rms);
        CHECK(pair.uncertainty.x > 0);
      }
    }
  });
}

TEST_CASE("a distortion of all tiles is estimated and does not move them") {
  test::on_every_device([](const Device& device) {
    // In order: u^2, uv, v^2, u^3, u^2 v, u v^2 and v^3, in pixels at the tile's edges.
    const TileDistortion distortion{
        {-1.5, 2.5, 1, 0.5, 0.4, 0.6, 0}, {0.8, -2, 1.5, 0, -0.6, 0, 0.5}, {139.5, 129.5}, 140};
    const DrawnMosaic drawn({.rows = 3,
                             .columns = 3,
                             .tile = {280, 260, 1},
                             .overlap = 0.25,
                             .noise = 2.5,
                             .distortion = distortion});
    const Mosaic mosaic = located(device, drawn);
    CHECK(used(mosaic) == mosaic.pairs.size());
    CHECK(test::rms_of(test::position_errors(mosaic, drawn.truth)) < promised_rms);
    REQUIRE_FALSE(mosaic.distortion.is_zero());
    for (const Point& p : {Point{10, 10}, Point{250, 30}, Point{40, 240}, Point{270, 250}}) {
      const Point found = mosaic.distortion.displacement(p);
      const Point truth = distortion.displacement(p);
      // Hundredths of a pixel in the overlaps; corners extrapolate a little.
      CHECK(std::hypot(found.x - truth.x, found.y - truth.y) < 0.1);
    }
    // Without it, each seam misfits by pixels.
    const Mosaic plain = located(device, drawn, {.estimate_distortion = false});
    CHECK(plain.distortion.is_zero());
    CHECK(test::rms_of(test::position_errors(plain, drawn.truth)) > 3 * promised_rms);
  });
}

TEST_CASE("tiles without a distortion have none") {
  test::on_every_device([](const Device& device) {
    for (const std::uint32_t seed : {1U, 2U, 3U}) {
      const DrawnMosaic drawn({.tile = {260, 240, 1}, .noise = 2.5, .seed = seed});
      CHECK(located(device, drawn).distortion.is_zero());
    }
  });
}

TEST_CASE("an overlap of 5 % with a stage that is wrong by as much") {
  test::on_every_device([](const Device& device) {
    const DrawnMosaic drawn(
        {.rows = 2, .columns = 3, .tile = {400, 400, 1}, .overlap = 0.05, .noise = 3, .seed = 3});
    const Mosaic mosaic = located(device, drawn);
    CHECK(mosaic.components == 1);
    CHECK(test::rms_of(test::position_errors(mosaic, drawn.truth)) < promised_rms);
  });
}

TEST_CASE("backlash of the stage is estimated") {
  test::on_every_device([](const Device& device) {
    const DrawnMosaic drawn({.rows = 4, .columns = 4, .noise = 0.4, .backlash = 7, .seed = 4});
    const Mosaic mosaic = located(device, drawn);
    CHECK(test::rms_of(test::position_errors(mosaic, drawn.truth)) < promised_rms);
    // 16 tiles of 0.4 px tell it to 0.2 px.
    CHECK(std::abs(mosaic.stage.backlash.x - 7) < 0.8);
    CHECK(mosaic.stage.backlash.y == 0);
  });
}

TEST_CASE("tiles without texture follow the stage, and impossible pairs are named") {
  test::on_every_device([](const Device& device) {
    constexpr double noise = 1.5;
    DrawnMosaic drawn({.rows = 4, .columns = 5, .noise = noise, .seed = 6});
    const std::set<std::size_t> empty{1, 7, 10, 14, 16, 19};
    for (const std::size_t i : empty) drawn.empty(i);
    // The left edge of tile 12 shows tile 3's: a pair that cannot match.
    const auto width = static_cast<std::size_t>(drawn.shape.width);
    for (std::size_t y = 0; y < static_cast<std::size_t>(drawn.shape.height); ++y) {
      std::copy_n(drawn.pixels[3].begin() + static_cast<std::ptrdiff_t>(y * width + 60), 40,
                  drawn.pixels[12].begin() + static_cast<std::ptrdiff_t>(y * width));
    }
    const Mosaic mosaic = located(device, drawn);
    std::vector<double> errors = test::position_errors(mosaic, drawn.truth);
    std::vector<double> linked;
    for (std::size_t i = 0; i < errors.size(); ++i) {
      CAPTURE(i);
      if (empty.count(i) > 0) CHECK(mosaic.tiles[i].pairs == 0);
      // Two axes, the stage's noise of the tile and of its set's mean: within 4 deviations.
      CHECK(errors[i] < 4 * noise * 1.5);
      if (mosaic.tiles[i].component == 0) linked.push_back(errors[i]);
    }
    CHECK(linked.size() >= 10);
    for (const MosaicPair& pair : mosaic.pairs) {
      CAPTURE(pair.reference);
      CAPTURE(pair.moving);
      const bool blank = empty.count(pair.reference) > 0 || empty.count(pair.moving) > 0;
      if (blank) CHECK(pair.outcome != PairOutcome::used);
      CHECK(pair.reason.empty() == (pair.outcome == PairOutcome::used));
    }
  });
}

/// The message of the error that a call throws, or an empty text.
template <typename Call>
std::string message_of(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::invalid_argument);
    return error.message();
  }
  return {};
}

bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("positions that do not fit are explained") {
  test::on_every_device([](const Device& device) {
    const DrawnMosaic drawn({.tile = {160, 160, 1}, .noise = 1, .seed = 8});
    const auto message = [&](const auto& change) {
      std::vector<MosaicTile> tiles = drawn.tiles;
      for (MosaicTile& tile : tiles) change(tile.position);
      return message_of([&] { (void)locate_tiles({&device, 1}, tiles, drawn.source()); });
    };
    CHECK(contains(message([](Point& p) { std::swap(p.x, p.y); }), "fit with x and y exchanged"));
    CHECK(contains(message([](Point& p) { p.x = -p.x; }), "with the sign of x reversed"));
    CHECK(contains(message([](Point& p) { p = {p.x * 1.54, p.y * 1.54}; }), "multiplied by 0.6"));
    CHECK(contains(message([](Point& p) { p = {p.x * 0.65, p.y * 0.65}; }), "multiplied by 1.5"));
    CHECK(contains(message([](Point& p) { p = {p.x * 1000, p.y * 1000}; }), "multiplied by 0.001"));
    CHECK(message([](Point&) {}).empty());
  });
}

TEST_CASE("wrong arguments are refused before pixels are read") {
  const Device& device = test::devices().front();
  const DrawnMosaic drawn({.rows = 1, .columns = 2});
  const TileSource none = [](std::size_t) -> TilePixels { throw std::runtime_error("was read"); };
  const auto message = [&](std::vector<MosaicTile> tiles, const MosaicOptions& options = {}) {
    return message_of([&] { (void)locate_tiles({&device, 1}, tiles, none, options); });
  };
  std::vector<MosaicTile> tiles = drawn.tiles;
  CHECK(contains(message({tiles[0]}), "at least 2 tiles, not 1"));
  CHECK(contains(message({tiles[0], tiles[0]}), "tiles 0 and 1 have the same position"));
  CHECK(contains(message(tiles, {.max_error = -1}), "max_error"));
  CHECK(contains(message(tiles, {.min_confidence = 0}), "min_confidence"));
  tiles[1].shape.width = 15;
  CHECK(contains(message(tiles), "sides of at least 16"));
  tiles[1] = drawn.tiles[1];
  tiles[1].position.x = NAN;
  CHECK(contains(message(tiles), "tile 1 is not finite"));
}

TEST_CASE("what the source throws ends the work") {
  const Device& device = test::devices().front();
  const DrawnMosaic drawn({.rows = 1, .columns = 3});
  const TileSource source = [&](std::size_t i) {
    if (i == 2) throw std::runtime_error("the disk is gone");
    return drawn.view(i);
  };
  CHECK_THROWS_WITH((void)locate_tiles({&device, 1}, drawn.tiles, source), "the disk is gone");
}

}  // namespace
