// The fused picture, compared with the scene from which the tiles are drawn.
#include "mosaic/drawn_mosaic.hpp"
#include "support/devices.hpp"

#include <warpalign/error.hpp>
#include <warpalign/mosaic.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <vector>

namespace {

using namespace warpalign;
using test::DrawnMosaic;

std::vector<std::uint16_t> fused(const Device& device, const DrawnMosaic& drawn,
                                 const std::vector<Point>& positions, const Shape& picture,
                                 std::int64_t rows, const TileDistortion& distortion = {}) {
  std::vector<std::uint16_t> pixels;
  std::int64_t next = 0;
  fuse_tiles(
      device, drawn.tiles, positions, [&](std::size_t i, int) { return drawn.view(i); },
      {.picture = picture, .type = PixelType::u16, .rows = rows, .distortion = distortion},
      [&](std::int64_t first, std::span<const HostImage> channels) {
        REQUIRE(channels.size() == 1);
        CHECK(first == next);
        next += channels[0].height;
        const auto* from = static_cast<const std::uint16_t*>(channels[0].data);
        pixels.insert(pixels.end(), from, from + channels[0].width * channels[0].height);
      });
  CHECK(next == picture.height);
  return pixels;
}

TEST_CASE("the picture of distorted tiles is the scene without distortion") {
  test::on_every_device([](const Device& device) {
    const TileDistortion distortion{
        {2, -3, 1, 0.5, 0, 1, 0}, {1, 2.5, -2, 0, 0.5, 0, 0}, {79.5, 71.5}, 80};
    const test::MosaicDrawing drawing{
        .rows = 2, .columns = 3, .overlap = 0.25, .seed = 12, .distortion = distortion};
    const DrawnMosaic drawn(drawing);
    // The tiles' own borders, which are a few pixels wide, lie outside of the picture.
    std::vector<Point> positions;
    constexpr double start = 20;
    for (const Point& p : drawn.truth) positions.push_back({p.x - start, p.y - start});
    const Shape picture{340, 200, 1};
    const std::vector<std::uint16_t> found =
        fused(device, drawn, positions, picture, 64, distortion);
    const double x = (1 - drawing.overlap) * static_cast<double>(drawn.shape.width);
    const double y = (1 - drawing.overlap) * static_cast<double>(drawn.shape.height);
    const test::SpotScene scene(x * drawing.columns + 60, y * drawing.rows + 60, drawing.seed);
    const std::vector<std::uint16_t> truth = scene.draw(picture, {start, start});
    double sum = 0;
    for (std::size_t i = 0; i < truth.size(); ++i) {
      const double off = static_cast<double>(found[i]) - static_cast<double>(truth[i]);
      sum += off * off;
    }
    CHECK(std::sqrt(sum / static_cast<double>(truth.size())) < 65);  // as without distortion
  });
}

TEST_CASE("the picture is the scene, in strips of any height") {
  test::on_every_device([](const Device& device) {
    const test::MosaicDrawing drawing{.rows = 2, .columns = 3, .seed = 11};
    const DrawnMosaic drawn(drawing);
    // The picture begins 10 pixels after the scene's origin, so that tiles cover its first pixels.
    std::vector<Point> positions;
    constexpr double start = 10;
    for (const Point& p : drawn.truth) positions.push_back({p.x - start, p.y - start});
    const Shape picture{380, 230, 1};
    const std::vector<std::uint16_t> whole = fused(device, drawn, positions, picture, 256);
    CHECK(fused(device, drawn, positions, picture, 37) == whole);
    const double x = (1 - drawing.overlap) * static_cast<double>(drawn.shape.width);
    const double y = (1 - drawing.overlap) * static_cast<double>(drawn.shape.height);
    const test::SpotScene scene(x * drawing.columns + 60, y * drawing.rows + 60, drawing.seed);
    const std::vector<std::uint16_t> truth = scene.draw(picture, {start, start});
    double sum = 0;
    for (std::size_t i = 0; i < truth.size(); ++i) {
      const double off = static_cast<double>(whole[i]) - static_cast<double>(truth[i]);
      sum += off * off;
    }
    // Spots of 1.6 pixels' deviation lose little to a cubic spline: 0.1 % of the range of 65535.
    CHECK(std::sqrt(sum / static_cast<double>(truth.size())) < 65);
  });
}

TEST_CASE("weights are linear across an overlap, and uncovered pixels are 0") {
  test::on_every_device([](const Device& device) {
    const Shape shape{40, 20, 1};
    const std::vector<MosaicTile> tiles{{shape, {0, 0}}, {shape, {30, 0}}};
    const std::vector<float> dark(800, 100);
    const std::vector<float> bright(800, 200);
    std::vector<float> picture;
    fuse_tiles(
        device, tiles, std::vector<Point>{{0, 0}, {30, 0}},
        [&](std::size_t i, int) {
          return TilePixels{{(i == 0 ? dark : bright).data(), PixelType::f32, 40, 20, 0}, {}};
        },
        {.picture = {75, 20, 1}, .type = PixelType::f32},
        [&](std::int64_t, std::span<const HostImage> channels) {
          const auto* from = static_cast<const float*>(channels[0].data);
          picture.assign(from, from + 75 * 20);
        });
    REQUIRE(picture.size() == 75 * 20);
    for (int k = 0; k < 10; ++k) {
      // Distances to the edges: 9.5 - k of the first tile, k + 0.5 of the second.
      CHECK(picture[static_cast<std::size_t>(30 + k)] ==
            doctest::Approx(100 + 100 * (k + 0.5) / 10).epsilon(1e-5));
    }
    CHECK(picture[0] == 100);
    CHECK(picture[69] == 200);
    CHECK(picture[70] == 0);
  });
}

TEST_CASE("missing pixels of a tile leave their place to other tiles") {
  test::on_every_device([](const Device& device) {
    const Shape shape{40, 20, 1};
    const std::vector<MosaicTile> tiles{{shape, {0, 0}}, {shape, {30, 0}}};
    std::vector<std::uint8_t> dark(800, 100), bright(800, 200);
    for (std::size_t y = 0; y < 20; ++y) {
      dark[40 * y + 35] = 9;  // within the overlap
      dark[40 * y + 5] = 9;   // where there is no other tile
      bright[40 * y + 20] = 9;
    }
    for (const bool between : {false, true}) {
      CAPTURE(between);
      const Point second{between ? 30.25 : 30, 0};
      std::vector<std::uint8_t> picture;
      fuse_tiles(
          device, tiles, std::vector<Point>{{0, 0}, second},
          [&](std::size_t i, int) {
            return TilePixels{{(i == 0 ? dark : bright).data(), PixelType::u8, 40, 20, 0}, {}};
          },
          {.picture = {75, 20, 1}, .type = PixelType::u8, .nodata = 9},
          [&](std::int64_t, std::span<const HostImage> channels) {
            const auto* from = static_cast<const std::uint8_t*>(channels[0].data);
            picture.assign(from, from + 75 * 20);
          });
      REQUIRE(picture.size() == 75 * 20);
      CHECK(picture[35] == 200);
      CHECK(picture[34] > 100);
      CHECK(picture[34] < 200);
      CHECK(picture[5] == 9);
      CHECK(picture[4] == 100);
      CHECK(picture[6] == 100);
      // A quarter of a pixel further, a half or more of the support is still missing there alone.
      CHECK(picture[50] == 9);
      CHECK(picture[49] == 200);
      CHECK(picture[52] == 200);
      CHECK(picture[72] == 9);  // no tile
    }
  });
}

TEST_CASE("what would look missing in a fusion becomes the next integer") {
  const Device& device = test::devices().front();
  const std::vector<MosaicTile> tiles{{{32, 16, 1}, {0, 0}}, {{32, 16, 1}, {0, 0}}};
  const std::vector<std::uint8_t> dark(512, 100), bright(512, 102);
  std::uint8_t found = 0;
  fuse_tiles(
      device, tiles, std::vector<Point>{{0, 0}, {0, 0}},
      [&](std::size_t i, int) {
        return TilePixels{{(i == 0 ? dark : bright).data(), PixelType::u8, 32, 16, 0}, {}};
      },
      {.picture = {32, 16, 1}, .type = PixelType::u8, .nodata = 101},
      [&](std::int64_t, std::span<const HostImage> channels) {
        found = static_cast<const std::uint8_t*>(channels[0].data)[100];
      });
  CHECK(found == 102);  // their mean is 101
}

TEST_CASE("wrong arguments of a fusion are refused") {
  const Device& device = test::devices().front();
  const DrawnMosaic drawn({.rows = 1, .columns = 2});
  const ChannelSource source = [&](std::size_t i, int) { return drawn.view(i); };
  const RowSink sink = [](std::int64_t, std::span<const HostImage>) {};
  const auto fuse = [&](const std::vector<Point>& positions, const FusionSpec& spec) {
    fuse_tiles(device, drawn.tiles, positions, source, spec, sink);
  };
  const std::vector<Point> positions{{0, 0}, {100, 0}};
  CHECK_THROWS_AS(fuse({{0, 0}}, {.picture = {300, 150, 1}, .type = PixelType::u16}), Error);
  CHECK_THROWS_AS(fuse(positions, {.picture = {0, 150, 1}, .type = PixelType::u16}), Error);
  CHECK_THROWS_AS(fuse(positions, {.picture = {300, 150, 1}, .type = PixelType::i32}), Error);
  CHECK_THROWS_AS(fuse(positions, {.picture = {300, 150, 1}, .type = PixelType::u8}), Error);
  CHECK_THROWS_AS(fuse({{0, 0}, {NAN, 0}}, {.picture = {300, 150, 1}, .type = PixelType::u16}),
                  Error);
  CHECK_THROWS_AS(fuse(positions, {.picture = {300, 150, 1}, .type = PixelType::u16, .nodata = -1}),
                  Error);
  CHECK_NOTHROW(fuse(positions, {.picture = {300, 150, 1}, .type = PixelType::u16}));
}

}  // namespace
