// Tiles without pixels: the others are located and fused as if there were no more.
#include "mosaic/drawn_mosaic.hpp"
#include "support/devices.hpp"

#include <warpalign/mosaic.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

namespace {

using namespace warpalign;
using test::DrawnMosaic;

TEST_CASE("a tile without pixels is placed by the stage, and the picture leaves it out") {
  constexpr std::size_t absent = 4;
  TileDistortion bent;
  bent.center = {280, 70};
  bent.radius = 280;
  bent.x = {5, 0, 3, 0, 0, 0, 0};
  test::on_every_device([&](const Device& device) {
    // Wider than 512 pixels: the search for unknown positions reduces the tiles.
    for (const bool distorted : {false, true}) {
      for (const bool known : {true, false}) {
        CAPTURE(distorted);
        CAPTURE(known);
        const DrawnMosaic drawn({.rows = 2,
                                 .columns = 3,
                                 .tile = {560, 140, 1},
                                 .overlap = 0.25,
                                 .distortion = distorted ? bent : TileDistortion{}});
        MosaicOptions options;
        options.positions_known = known;
        std::size_t kept = 0;
        options.keep_pair = [&](const PairRecord& record) {
          if (record.reference == absent || record.moving == absent) ++kept;
        };
        const auto source = [&](std::size_t i) {
          return i == absent ? TilePixels{} : drawn.view(i);
        };
        const Mosaic mosaic = locate_tiles({&device, 1}, drawn.tiles, source, options);
        CHECK(mosaic.tiles[absent].pairs == 0);
        CHECK(mosaic.distortion.is_zero() == !distorted);
        CHECK(test::rms_of([&] {
                std::vector<double> errors = test::position_errors(mosaic, drawn.truth);
                errors.erase(errors.begin() + absent);
                return errors;
              }()) < 0.1);
        for (const MosaicPair& pair : mosaic.pairs) {
          if (pair.reference != absent && pair.moving != absent) continue;
          CHECK(pair.outcome == PairOutcome::failed);
          CHECK(pair.reason == "a tile of the pair is absent");
        }
        // A later call may have the tile.
        CHECK(kept == 0);
        std::vector<Point> positions;
        for (const LocatedTile& tile : mosaic.tiles) positions.push_back(tile.position);
        const auto x = static_cast<std::int64_t>(positions[absent].x) + 280;
        const auto y = static_cast<std::int64_t>(positions[absent].y) + 70;
        std::size_t rows = 0;
        std::uint16_t middle = 1;
        fuse_tiles(
            device, drawn.tiles, positions, [&](std::size_t i, int) { return source(i); },
            {.picture = mosaic.shape, .type = PixelType::u16, .distortion = mosaic.distortion},
            [&](std::int64_t first, std::span<const HostImage> channels) {
              rows += static_cast<std::size_t>(channels[0].height);
              if (y < first || y >= first + channels[0].height) return;
              const auto* pixels = static_cast<const std::uint16_t*>(channels[0].data);
              middle = pixels[(y - first) * channels[0].width + x];
            });
        CHECK(rows == static_cast<std::size_t>(mosaic.shape.height));
        CHECK(middle == 0);
      }
    }
  });
}

}  // namespace
