// Mosaics of tiles whose positions are not known.
#include "mosaic/arrangement/arrangement.hpp"
#include "mosaic/drawn_mosaic.hpp"
#include "support/devices.hpp"

#include <warpalign/mosaic.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <random>
#include <utility>
#include <vector>

namespace {

using namespace warpalign;
using detail::arrange_tiles;
using detail::Arrangement;
using detail::ShiftLink;
using test::DrawnMosaic;

// What users are promised where every tile has texture, in pixels.
constexpr double max_rms = 0.05;

/// Takes the tiles in another order, and makes their nominal positions worthless.
void shuffle(DrawnMosaic& drawn, std::uint32_t seed) {
  std::mt19937 random(seed);
  for (std::size_t i = drawn.tiles.size(); i-- > 1;) {
    const std::size_t other = random() % (i + 1);
    std::swap(drawn.truth[i], drawn.truth[other]);
    std::swap(drawn.pixels[i], drawn.pixels[other]);
  }
}

Mosaic located_without_positions(const Device& device, DrawnMosaic& drawn) {
  for (MosaicTile& tile : drawn.tiles) {
    tile.position = {std::numeric_limits<double>::quiet_NaN(), 0};
  }
  MosaicOptions options;
  options.positions_known = false;
  return locate_tiles({&device, 1}, drawn.tiles, drawn.source(), options);
}

bool is_used_pair(const MosaicPair& pair) { return pair.outcome == PairOutcome::used; }

TEST_CASE("tiles in any order are located without positions") {
  test::on_every_device([](const Device& device) {
    DrawnMosaic drawn({.rows = 2, .columns = 3, .overlap = 0.2, .noise = 3, .seed = 11});
    shuffle(drawn, 5);
    const Mosaic mosaic = located_without_positions(device, drawn);
    CHECK(mosaic.components == 1);
    CHECK(mosaic.pairs.size() >= 7);  // the others are of corners
    CHECK(std::all_of(mosaic.pairs.begin(), mosaic.pairs.end(), is_used_pair));
    CHECK(test::rms_of(test::position_errors(mosaic, drawn.truth)) < max_rms);
    CHECK(mosaic.stage.matrix.a == 1);
    CHECK(mosaic.stage.matrix.b == 0);
    CHECK(mosaic.stage.backlash.x == 0);
  });
}

TEST_CASE("unrelated tiles and sets of tiles are components side by side") {
  test::on_every_device([](const Device& device) {
    DrawnMosaic drawn({.rows = 2, .columns = 2, .overlap = 0.2, .noise = 3, .seed = 12});
    DrawnMosaic other({.rows = 1, .columns = 2, .overlap = 0.2, .noise = 3, .seed = 13});
    DrawnMosaic alone({.rows = 1, .columns = 1, .seed = 14});
    for (const DrawnMosaic* added : {&other, &alone}) {
      drawn.tiles.insert(drawn.tiles.end(), added->tiles.begin(), added->tiles.end());
      drawn.truth.insert(drawn.truth.end(), added->truth.begin(), added->truth.end());
      drawn.pixels.insert(drawn.pixels.end(), added->pixels.begin(), added->pixels.end());
    }
    const Mosaic mosaic = located_without_positions(device, drawn);
    CHECK(mosaic.components == 3);
    const std::vector<std::size_t> expected{0, 0, 0, 0, 1, 1, 2};
    double right = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      CAPTURE(i);
      CHECK(mosaic.tiles[i].component == expected[i]);
      CHECK((mosaic.tiles[i].pairs == 0) == (i == 6));
      const double x = mosaic.tiles[i].position.x;
      if (i == 4 || i == 6) CHECK(x > right);
      right = std::max(right, x + static_cast<double>(drawn.shape.width));
    }
    for (const auto& [from, to] : {std::pair<std::size_t, std::size_t>{0, 3}, {4, 5}}) {
      const Point& a = mosaic.tiles[from].position;
      const Point& b = mosaic.tiles[to].position;
      CHECK(std::abs(b.x - a.x - drawn.truth[to].x + drawn.truth[from].x) < 2 * max_rms);
      CHECK(std::abs(b.y - a.y - drawn.truth[to].y + drawn.truth[from].y) < 2 * max_rms);
    }
    CHECK(mosaic.shape.width >= static_cast<std::int64_t>(right));
  });
}

TEST_CASE("many tiles in the order of the stage are located without positions") {
  test::on_every_device([](const Device& device) {
    DrawnMosaic drawn(
        {.rows = 5, .columns = 6, .tile = {112, 112, 1}, .overlap = 0.25, .noise = 2, .seed = 15});
    const Mosaic mosaic = located_without_positions(device, drawn);
    CHECK(mosaic.components == 1);
    CHECK(mosaic.pairs.size() >= 49);
    CHECK(test::rms_of(test::position_errors(mosaic, drawn.truth)) < max_rms);
  });
}

TEST_CASE("an arrangement follows the links on which most agree") {
  // A grid of 3 x 3 with all 12 links, one of which is wrong and the most confident.
  std::vector<MosaicTile> tiles(9, MosaicTile{{100, 100, 1}, {}});
  std::vector<ShiftLink> links;
  for (std::size_t i = 0; i < 9; ++i) {
    if (i % 3 < 2) links.push_back({i, i + 1, {90, 1}, {}, 0.9});
    if (i < 6) links.push_back({i, i + 3, {-1, 90}, {}, 0.9});
  }
  links[5].shift = {20, 70};
  links[5].confidence = 1;
  const Arrangement found = arrange_tiles(tiles, links, 8);
  for (std::size_t i = 0; i < links.size(); ++i) CHECK(found.consistent[i] == (i != 5));
  for (std::size_t i = 0; i < 9; ++i) {
    const auto column = static_cast<double>(i % 3);
    const auto row = static_cast<double>(i / 3);
    CHECK(found.positions[i].x - found.positions[0].x == doctest::Approx(90 * column - row));
    CHECK(found.positions[i].y - found.positions[0].y == doctest::Approx(column + 90 * row));
  }
  // Without links, tiles lie side by side.
  const Arrangement loose = arrange_tiles(tiles, {}, 8);
  for (std::size_t i = 0; i < 9; ++i) {
    CHECK(loose.components[i] == i);
    CHECK(loose.positions[i].x == doctest::Approx(125.0 * static_cast<double>(i)));
  }
}

}  // namespace
