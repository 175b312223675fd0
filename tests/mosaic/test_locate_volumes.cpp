// Mosaics of volumes on devices: drawn tiles, whose positions are known.
#include "mosaic/drawn_volumes.hpp"
#include "support/devices.hpp"

#include <warpalign/error.hpp>
#include <warpalign/volume_mosaic.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

namespace {

using namespace warpalign;
using test::DrawnVolumes;

// What users are promised where every tile has texture, in voxels.
constexpr double promised_volume_rms = 0.05;

VolumeMosaic located(const Device& device, const DrawnVolumes& drawn,
                     const VolumeMosaicOptions& options = {}) {
  return locate_volume_tiles({&device, 1}, drawn.tiles, drawn.source(), options);
}

std::ptrdiff_t used_pairs(const VolumeMosaic& mosaic) {
  return std::count_if(mosaic.pairs.begin(), mosaic.pairs.end(),
                       [](const VolumeMosaicPair& p) { return p.outcome == PairOutcome::used; });
}

TEST_CASE("volume tiles are located to hundredths of a voxel") {
  test::on_every_device([](const Device& device) {
    const DrawnVolumes drawn({});
    std::size_t calls = 0;
    VolumeMosaicOptions options;
    options.progress = [&](std::size_t done, std::size_t total) {
      CHECK(done == ++calls);
      CHECK(total == 20);
    };
    const VolumeMosaic mosaic = located(device, drawn, options);
    // In each layer 4 pairs along x and 3 along y; 6 from one layer to the next.
    CHECK(mosaic.pairs.size() == 20);
    CHECK(calls == 20);
    CHECK(used_pairs(mosaic) == 20);
    CHECK(mosaic.components == 1);
    CHECK(test::rms_of(test::position_errors(mosaic, drawn.truth)) < promised_volume_rms);
    Point3 least{1, 1, 1};
    for (const LocatedVolumeTile& tile : mosaic.tiles) {
      const Point3& p = tile.position;
      least = {std::min(least.x, p.x), std::min(least.y, p.y), std::min(least.z, p.z)};
      CHECK(static_cast<double>(mosaic.shape.width) >= std::floor(p.x) + 96);
      CHECK(static_cast<double>(mosaic.shape.height) >= std::floor(p.y) + 96);
      CHECK(static_cast<double>(mosaic.shape.depth) >= std::floor(p.z) + 24);
      CHECK(tile.pairs >= 3);
    }
    CHECK((least.x == 0 && least.y == 0 && least.z == 0));
    // Errors of the shifts, in standard deviations.
    double squares = 0;
    for (const VolumeMosaicPair& pair : mosaic.pairs) {
      const Point3& a = drawn.truth[pair.reference];
      const Point3& b = drawn.truth[pair.moving];
      squares += std::pow((pair.shift.x - (b.x - a.x)) / pair.uncertainty.x, 2) +
                 std::pow((pair.shift.y - (b.y - a.y)) / pair.uncertainty.y, 2) +
                 std::pow((pair.shift.z - (b.z - a.z)) / pair.uncertainty.z, 2);
    }
    // 60 numbers tell 1 within a tenth. Linear interpolation smooths half of the noise, so that the
    // uncertainty is a little too small.
    const double deviations = std::sqrt(squares / 60);
    CHECK(deviations > 0.5);
    CHECK(deviations < 2);
    // Residuals and positions are of one system.
    for (const VolumeMosaicPair& pair : mosaic.pairs) {
      const Point3& from = mosaic.tiles[pair.reference].position;
      const Point3& to = mosaic.tiles[pair.moving].position;
      CHECK(pair.residual.z == doctest::Approx(pair.shift.z - (to.z - from.z)));
      CHECK(std::hypot(pair.residual.x, pair.residual.y, pair.residual.z) <
            3 * promised_volume_rms);
      CHECK(pair.uncertainty.x > 0);
      CHECK(pair.uncertainty.z > 0);
      CHECK(pair.reason.empty());
    }
  });
}

TEST_CASE("an empty volume tile follows the stage, and impossible pairs are named") {
  test::on_every_device([](const Device& device) {
    test::VolumeDrawing drawing{.layers = 2, .rows = 2, .columns = 4, .seed = 3};
    drawing.noise = {1.5, 1.5, 0.8};
    DrawnVolumes drawn(drawing);
    constexpr std::size_t blank = 2;
    drawn.empty(blank);
    // The left part of the last tile, where it overlaps tile 14, shows another scene.
    constexpr std::size_t altered = 15;
    const test::VolumeScene other(drawn.sides, 99);
    const std::vector<std::uint16_t> wrong = other.draw(drawn.shape, drawn.truth[altered]);
    for (std::size_t i = 0; i < wrong.size(); ++i) {
      if (i % 96 < 26) drawn.voxels[altered][i] = wrong[i];
    }
    const VolumeMosaic mosaic = located(device, drawn);
    const std::vector<double> errors = test::position_errors(mosaic, drawn.truth);
    std::vector<double> textured;
    for (std::size_t i = 0; i < errors.size(); ++i) {
      if (i != blank && i != altered) textured.push_back(errors[i]);
    }
    CHECK(test::rms_of(textured) < promised_volume_rms);
    // A quarter of its other overlaps shows the other scene, too, and draws them a little.
    CHECK(errors[altered] < 0.5);
    CHECK(mosaic.tiles[blank].pairs == 0);
    CHECK(mosaic.tiles[blank].component == 1);
    CHECK(mosaic.components == 2);
    // The stage's noise along three axes, of the tile and of the mean of the others: within 4
    // deviations.
    CHECK(errors[blank] < 4 * 2.3);
    for (const VolumeMosaicPair& pair : mosaic.pairs) {
      CAPTURE(pair.reference);
      CAPTURE(pair.moving);
      const bool is_blank = pair.reference == blank || pair.moving == blank;
      const bool is_impossible = pair.reference == 14 && pair.moving == altered;
      CHECK((pair.outcome == PairOutcome::used) == !(is_blank || is_impossible));
      CHECK(pair.reason.empty() == (pair.outcome == PairOutcome::used));
    }
  });
}

/// By how much a pair's shift is wrong, in voxels.
double shift_error(const VolumeMosaicPair& pair, const DrawnVolumes& drawn) {
  const Point3& a = drawn.truth[pair.reference];
  const Point3& b = drawn.truth[pair.moving];
  return std::hypot(pair.shift.x - (b.x - a.x), pair.shift.y - (b.y - a.y),
                    pair.shift.z - (b.z - a.z));
}

TEST_CASE("pairs of volumes that repeat themselves are ambiguous, and none is used wrongly") {
  test::on_every_device([](const Device& device) {
    std::size_t ambiguous = 0;
    for (const double jitter : {0.0, 0.3}) {
      for (const std::uint32_t seed : {1U, 2U, 3U, 4U}) {
        CAPTURE(jitter);
        CAPTURE(seed);
        const DrawnVolumes drawn({.layers = 1,
                                  .tile = {80, 80, 24},
                                  .seed = seed,
                                  .period = {10, 10, 9},
                                  .jitter = jitter});
        const VolumeMosaic mosaic = located(device, drawn);
        for (const VolumeMosaicPair& pair : mosaic.pairs) {
          if (pair.outcome == PairOutcome::used) CHECK(shift_error(pair, drawn) < 1);
          if (pair.outcome != PairOutcome::ambiguous) continue;
          ++ambiguous;
          CHECK(pair.reason == "the texture repeats itself");
        }
      }
    }
    // Shifts of other pairs are beyond max_error, or not reliable.
    CHECK(ambiguous >= 8);
  });
}

TEST_CASE("spots that are hardly a lattice are no repetition") {
  test::on_every_device([](const Device& device) {
    const DrawnVolumes drawn(
        {.layers = 1, .tile = {80, 80, 24}, .period = {10, 10, 9}, .jitter = 1.5});
    const VolumeMosaic mosaic = located(device, drawn);
    CHECK(used_pairs(mosaic) == 7);
    CHECK(test::rms_of(test::position_errors(mosaic, drawn.truth)) < promised_volume_rms);
  });
}

TEST_CASE("tiles that are absent or lie elsewhere") {
  const Device& device = test::devices().front();
  const DrawnVolumes drawn({.layers = 1, .rows = 1, .columns = 3, .seed = 5});
  const VolumeMosaic mosaic = locate_volume_tiles({&device, 1}, drawn.tiles, [&](std::size_t i) {
    return i == 2 ? TileVoxels{} : drawn.view(i);
  });
  REQUIRE(mosaic.pairs.size() == 2);
  CHECK(mosaic.pairs[0].outcome == PairOutcome::used);
  CHECK(mosaic.pairs[1].outcome == PairOutcome::failed);
  CHECK(mosaic.pairs[1].reason == "a tile of the pair is absent");
  // Tile 1 is about 2.5 voxels from where the stage says, so that 0.1 is exceeded.
  const VolumeMosaic strict = located(device, drawn, {.max_error = 0.1});
  for (const VolumeMosaicPair& pair : strict.pairs) {
    CHECK(pair.outcome == PairOutcome::beyond_error);
    CHECK(pair.reason.find("voxels from the expected one") != std::string::npos);
  }
}

/// The message of the error that a call throws, or an empty text.
template <class Call>
std::string refusal(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.message();
  }
  return {};
}

TEST_CASE("wrong arguments of a mosaic of volumes are refused") {
  const Device& device = test::devices().front();
  const DrawnVolumes drawn({.layers = 1, .rows = 1, .columns = 2});
  const auto locate = [&](std::vector<VolumeMosaicTile> tiles,
                          const VolumeMosaicOptions& options = {}) {
    return refusal([&] {
      static_cast<void>(locate_volume_tiles({&device, 1}, tiles, drawn.source(), options));
    });
  };
  const auto has = [](const std::string& text, const char* part) {
    CAPTURE(text);
    CHECK(text.find(part) != std::string::npos);
  };
  const VolumeMosaicTile first = drawn.tiles[0];
  const VolumeMosaicTile second = drawn.tiles[1];
  has(locate({first}), "at least 2 tiles");
  has(locate({first, first}), "same position");
  has(locate({first, {second.shape, {500, 0, 0}}}), "no tiles overlap");
  has(locate({first, {second.shape, {0, 0, std::numeric_limits<double>::quiet_NaN()}}}),
      "need known positions");
  has(locate({first, {{96, 96, 7}, {76, 0, 0}}}), "at least 8 voxels");
  has(locate({first, {{96, 96, 20}, {76, 0, 0}}}), "its shape was given as 96 x 96 x 20");
  has(locate({first, second}, {.max_error = -1}), "max_error");
  has(locate({first, second}, {.min_confidence = 0}), "min_confidence");
  has(locate({first, second}, {.batch = {.streams_per_device = 0}}), "streams_per_device");
}

}  // namespace
