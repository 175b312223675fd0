// Mosaics of tiles that each are rotated, scaled or tilted: drawn tiles, whose matrices are known.
#include "mosaic/drawn_rotated_mosaic.hpp"
#include "support/devices.hpp"

#include <warpalign/error.hpp>
#include <warpalign/mosaic.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace {

using namespace warpalign;
using test::RotatedMosaic;

Mosaic located_rotated(const Device& device, const RotatedMosaic& drawn, Motion motion,
                       MosaicOptions options = {}) {
  options.motion = motion;
  return locate_tiles({&device, 1}, drawn.tiles, drawn.source(), options);
}

std::size_t pairs_with(const Mosaic& mosaic, PairOutcome outcome) {
  return static_cast<std::size_t>(
      std::count_if(mosaic.pairs.begin(), mosaic.pairs.end(),
                    [&](const MosaicPair& p) { return p.outcome == outcome; }));
}

// What users are promised where every tile has texture: at every corner of a tile, in pixels, and
// in degrees.
constexpr double promised = 0.05;
constexpr double promised_angle = 0.005;

TEST_CASE("rotated, scaled and tilted tiles are located to hundredths of a pixel") {
  test::on_every_device([](const Device& device) {
    for (const auto& [motion, scale, perspective] :
         {std::tuple{Motion::rigid, 0.0, 0.0}, std::tuple{Motion::similarity, 0.01, 0.0},
          std::tuple{Motion::homography, 0.01, 0.01}}) {
      CAPTURE(static_cast<int>(motion));
      const RotatedMosaic drawn({.scale = scale, .perspective = perspective});
      const Mosaic mosaic = located_rotated(device, drawn, motion);
      CHECK(mosaic.pairs.size() == 12);
      CHECK(pairs_with(mosaic, PairOutcome::used) == 12);
      CHECK(mosaic.components == 1);
      const test::RotatedErrors errors = test::rotated_errors(mosaic, drawn, motion);
      CHECK(errors.largest < promised);
      CHECK(errors.angle < promised_angle);
      // The picture begins at the corners that are furthest to the left and to the top.
      double left = 1e9;
      double top = 1e9;
      double right = -1e9;
      for (const LocatedTile& tile : mosaic.tiles) {
        CHECK(tile.position.x == doctest::Approx(tile.matrix({0, 0}).x));
        for (const Point& corner : {Point{0, 0}, {259, 0}, {0, 239}, {259, 239}}) {
          left = std::min(left, tile.matrix(corner).x);
          top = std::min(top, tile.matrix(corner).y);
          right = std::max(right, tile.matrix(corner).x);
        }
      }
      CHECK(std::abs(left) < 1e-9);
      CHECK(std::abs(top) < 1e-9);
      CHECK(mosaic.shape.width == static_cast<std::int64_t>(std::floor(right + 1e-3)) + 1);
      for (const MosaicPair& pair : mosaic.pairs) {
        CHECK(std::hypot(pair.residual.x, pair.residual.y) < promised);
        CHECK(pair.uncertainty.x > 0);
        // The pair's own matrix agrees with the tiles'.
        const Point middle{130, 120};
        const Point a = mosaic.tiles[pair.reference].matrix(pair.matrix(middle));
        const Point b = mosaic.tiles[pair.moving].matrix(middle);
        CHECK(std::hypot(a.x - b.x, a.y - b.y) < 1);  // half a tile from where they overlap
      }
    }
  });
}

TEST_CASE("a mosaic of rotated tiles has the mean orientation and scale of its tiles") {
  test::on_every_device([](const Device& device) {
    const RotatedMosaic drawn({.scale = 0.01});
    const Mosaic mosaic = located_rotated(device, drawn, Motion::similarity);
    double angle = 0;
    double scale = 0;
    for (const LocatedTile& tile : mosaic.tiles) {
      angle += std::atan2(tile.matrix.h[3], tile.matrix.h[0]) / 9;
      scale += std::log(std::hypot(tile.matrix.h[3], tile.matrix.h[0])) / 9;
    }
    // The stage's errors of 2 pixels pull a little.
    CHECK(std::abs(angle) < 5e-3);
    CHECK(std::abs(scale) < 5e-3);
  });
}

TEST_CASE("a wrong pair of rotated tiles is left out and an empty tile follows the stage") {
  test::on_every_device([](const Device& device) {
    for (const Motion motion : {Motion::rigid, Motion::similarity, Motion::homography}) {
      CAPTURE(static_cast<int>(motion));
      RotatedMosaic drawn({.angle = 1.5});
      drawn.empty(8);
      drawn.contradict(3, 4, test::shift_by(9, -7));
      const Mosaic mosaic = located_rotated(device, drawn, motion);
      for (const MosaicPair& pair : mosaic.pairs) {
        CAPTURE(pair.reference);
        CAPTURE(pair.moving);
        CAPTURE(pair.reason);
        if (pair.moving == 8) {
          CHECK(pair.outcome != PairOutcome::used);
        } else if (pair.reference == 3 && pair.moving == 4) {
          CHECK(pair.outcome == PairOutcome::contradicted);
          CHECK(pair.reason.find("contradict the transform") != std::string::npos);
        } else {
          CHECK(pair.outcome == PairOutcome::used);
        }
      }
      const test::RotatedErrors errors = test::rotated_errors(mosaic, drawn, motion);
      // A fifth of the other overlaps of tiles 3 and 4 shows the other scene, too, which bends
      // homographies.
      CHECK(errors.largest < (motion == Motion::homography ? 1 : 0.1));
      // The empty tile is not rotated, and its own turn and the stage's error are unknown.
      CHECK(mosaic.tiles[8].pairs == 0);
      CHECK(mosaic.tiles[8].component == 1);
      CHECK(mosaic.tiles[8].matrix.h[1] == doctest::Approx(0).epsilon(1e-6));
      CHECK(errors.of_tiles[8] < 15);
    }
  });
}

TEST_CASE("rotated tiles are found without positions, and components lie beside each other") {
  test::on_every_device([](const Device& device) {
    RotatedMosaic drawn({.rows = 2, .columns = 2, .angle = 1.5});
    const RotatedMosaic other({.rows = 1, .columns = 2, .angle = 1.5, .seed = 9});
    for (std::size_t i = 0; i < 2; ++i) {
      drawn.tiles.push_back(other.tiles[i]);
      drawn.pixels.push_back(other.pixels[i]);
    }
    const Mosaic mosaic = located_rotated(device, drawn, Motion::rigid, {.positions_known = false});
    CHECK(mosaic.components == 2);
    CHECK(mosaic.tiles[4].component == 1);
    CHECK(test::rotated_errors(mosaic, drawn, Motion::rigid).largest < promised);
    double right = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      right = std::max(right, mosaic.tiles[i].matrix({259, 120}).x);
    }
    CHECK(mosaic.tiles[4].position.x > right);
  });
}

TEST_CASE("an interrupted mosaic of rotated tiles goes on with the same result") {
  test::on_every_device([](const Device& device) {
    const RotatedMosaic drawn({.rows = 2, .columns = 2});
    std::vector<PairRecord> kept;
    const Mosaic first =
        located_rotated(device, drawn, Motion::similarity,
                        {.keep_pair = [&](const PairRecord& record) { kept.push_back(record); }});
    REQUIRE(kept.size() == 4);
    std::size_t reads = 0;
    MosaicOptions options;
    options.motion = Motion::similarity;
    options.records.pairs = kept;
    const Mosaic again = locate_tiles(
        {&device, 1}, drawn.tiles,
        [&](std::size_t i) {
          ++reads;
          return drawn.view(i);
        },
        options);
    CHECK(reads == 0);
    for (std::size_t i = 0; i < 4; ++i) {
      CHECK(again.tiles[i].matrix.h == first.tiles[i].matrix.h);
      CHECK(again.pairs[i].matrix.h == first.pairs[i].matrix.h);
      CHECK(again.pairs[i].uncertainty.x == first.pairs[i].uncertainty.x);
    }
  });
}

TEST_CASE("motions that tiles cannot have are refused") {
  const Device& device = test::devices().front();
  const RotatedMosaic drawn({.rows = 1, .columns = 2, .tile = {40, 40, 1}});
  for (const Motion motion :
       {Motion::rotation, Motion::affine, Motion::automatic, Motion::deformable}) {
    try {
      static_cast<void>(located_rotated(device, drawn, motion));
      FAIL("accepted");
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::invalid_argument);
      CHECK(std::string(error.message()).find("rigid, similarity or homography") !=
            std::string::npos);
    }
  }
}

}  // namespace
