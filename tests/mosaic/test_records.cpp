// locate_tiles() after an interruption: what was measured is not measured again.
#include "mosaic/drawn_mosaic.hpp"
#include "support/devices.hpp"

#include <warpalign/mosaic.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <cstddef>
#include <stdexcept>
#include <vector>

namespace {

using namespace warpalign;
using test::DrawnMosaic;

struct Stop : std::runtime_error {
  Stop() : std::runtime_error("stopped by the test") {}
};

/// A call that keeps records, and ends after so many pairs.
Mosaic locate_and_keep(const Device& device, const DrawnMosaic& drawn, MosaicOptions options,
                       MosaicRecords& records, std::size_t stop_after) {
  std::size_t kept = 0;
  options.records = records;
  options.keep_pair = [&](const PairRecord& record) {
    if (kept++ >= stop_after) throw Stop();
    records.pairs.push_back(record);
  };
  options.keep_distortion = [&](const TileDistortion& found) { records.distortion = found; };
  return locate_tiles({&device, 1}, drawn.tiles, drawn.source(), options);
}

bool same(const Mosaic& a, const Mosaic& b) {
  bool equal = a.tiles.size() == b.tiles.size() && a.pairs.size() == b.pairs.size();
  for (std::size_t i = 0; equal && i < a.tiles.size(); ++i) {
    equal = a.tiles[i].position.x == b.tiles[i].position.x &&
            a.tiles[i].position.y == b.tiles[i].position.y && a.tiles[i].pairs == b.tiles[i].pairs;
  }
  for (std::size_t i = 0; equal && i < a.pairs.size(); ++i) {
    equal = a.pairs[i].outcome == b.pairs[i].outcome && a.pairs[i].reason == b.pairs[i].reason &&
            a.pairs[i].confidence == b.pairs[i].confidence &&
            a.pairs[i].uncertainty.x == b.pairs[i].uncertainty.x;
  }
  return equal && a.distortion.x == b.distortion.x && a.distortion.y == b.distortion.y;
}

TEST_CASE("an interrupted mosaic goes on with the same result, from what was measured") {
  test::on_every_device([](const Device& device) {
    TileDistortion bent;
    bent.center = {64, 64};
    bent.radius = 90;
    bent.x = {3, 0, 1.5, 0, 0, 0, 0};
    for (const bool distorted : {false, true}) {
      for (const bool known : {true, false}) {
        if (distorted && !known) continue;
        CAPTURE(distorted);
        CAPTURE(known);
        const DrawnMosaic drawn({.rows = 2,
                                 .columns = 3,
                                 .tile = {160, 144, 1},
                                 .overlap = 0.25,
                                 .distortion = distorted ? bent : TileDistortion{}});
        MosaicOptions options;
        options.positions_known = known;
        constexpr std::size_t never = 1000000;
        MosaicRecords all;
        const Mosaic expected = locate_and_keep(device, drawn, options, all, never);
        REQUIRE(expected.distortion.is_zero() == !distorted);
        REQUIRE(all.distortion);
        for (const std::size_t stop : {std::size_t{4}, all.pairs.size() - 2}) {
          CAPTURE(stop);
          MosaicRecords records;
          CHECK_THROWS_AS((void)locate_and_keep(device, drawn, options, records, stop), Stop);
          REQUIRE(records.pairs.size() == stop);
          const Mosaic resumed = locate_and_keep(device, drawn, options, records, never);
          CHECK(same(resumed, expected));
          // No pair twice.
          CHECK(records.pairs.size() == all.pairs.size());
        }
        // With all records, no tile is read unless the search reduces it.
        std::atomic<int> reads = 0;
        options.records = all;
        const TileSource source = drawn.source();
        const Mosaic again = locate_tiles(
            {&device, 1}, drawn.tiles,
            [&](std::size_t i) {
              ++reads;
              return source(i);
            },
            options);
        CHECK(same(again, expected));
        CHECK(reads == 0);
        if (!known) continue;
        // Records of other shifts are not taken.
        const DrawnMosaic other({.rows = 2, .columns = 3, .noise = 4, .seed = 9});
        std::size_t registered = 0;
        options.keep_pair = [&](const PairRecord&) { ++registered; };
        (void)locate_tiles({&device, 1}, other.tiles, other.source(), options);
        CHECK(registered >= 7);
      }
    }
  });
}

}  // namespace
