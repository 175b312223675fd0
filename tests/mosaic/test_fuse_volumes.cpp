// The fused volume, compared with the scene from which the tiles are drawn.
#include "mosaic/drawn_volumes.hpp"
#include "support/devices.hpp"

#include <warpalign/error.hpp>
#include <warpalign/volume_mosaic.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace {

using namespace warpalign;
using test::DrawnVolumes;

template <class Sample>
std::vector<Sample> fused_volume(const Device& device, const std::vector<VolumeMosaicTile>& tiles,
                                 const std::vector<Point3>& positions,
                                 const VolumeTileSource& source, const VolumeFusionSpec& spec) {
  std::vector<Sample> voxels;
  std::int64_t next = 0;
  fuse_volume_tiles(device, tiles, positions, source, spec,
                    [&](std::int64_t first, const HostVolume& planes) {
                      CHECK(first == next);
                      next += planes.shape.depth;
                      CHECK(planes.shape.width == spec.volume.width);
                      CHECK(planes.shape.height == spec.volume.height);
                      const auto* from = static_cast<const Sample*>(planes.data);
                      voxels.insert(voxels.end(), from, from + planes.shape.pixels());
                    });
  CHECK(next == spec.volume.depth);
  return voxels;
}

TEST_CASE("the fused volume is the scene, in slabs of any number of planes") {
  test::on_every_device([](const Device& device) {
    test::VolumeDrawing drawing{.layers = 2, .rows = 2, .columns = 2, .seed = 11};
    drawing.camera_noise = 0;
    const DrawnVolumes drawn(drawing);
    // The volume begins within the scene, so that tiles cover all of it.
    const Point3 start{10, 10, 3};
    std::vector<Point3> positions;
    for (const Point3& p : drawn.truth) {
      positions.push_back({p.x - start.x, p.y - start.y, p.z - start.z});
    }
    const Shape shape{150, 150, 32};
    const auto fuse = [&](std::int64_t planes) {
      return fused_volume<std::uint16_t>(
          device, drawn.tiles, positions, drawn.source(),
          {.volume = shape, .type = PixelType::u16, .planes = planes});
    };
    const std::vector<std::uint16_t> whole = fuse(32);
    CHECK(fuse(5) == whole);
    const test::VolumeScene scene(drawn.sides, drawing.seed);
    const std::vector<std::uint16_t> truth = scene.draw(shape, start);
    double sum = 0;
    for (std::size_t i = 0; i < truth.size(); ++i) {
      const double off = static_cast<double>(whole[i]) - static_cast<double>(truth[i]);
      sum += off * off;
    }
    // Spots of 1.6 voxels' deviation lose little to a cubic spline: 0.1 % of the range of 65535.
    CHECK(std::sqrt(sum / static_cast<double>(truth.size())) < 65);
  });
}

TEST_CASE("weights of volumes are linear across an overlap, and uncovered voxels are 0") {
  test::on_every_device([](const Device& device) {
    const Shape shape{16, 12, 20};
    const std::vector<VolumeMosaicTile> tiles{{shape, {}}, {shape, {}}};
    const std::vector<float> dark(static_cast<std::size_t>(shape.pixels()), 100);
    const std::vector<float> bright(dark.size(), 200);
    const std::vector<float> found = fused_volume<float>(
        device, tiles, {{0, 0, 0}, {0, 0, 10}},
        [&](std::size_t i) {
          return TileVoxels{{(i == 0 ? dark : bright).data(), PixelType::f32, shape}, {}};
        },
        {.volume = {16, 12, 32}, .type = PixelType::f32, .planes = 7});
    const auto at = [&](std::size_t z) { return found[(z * 12 + 5) * 16 + 3]; };
    for (std::size_t k = 0; k < 10; ++k) {
      // Distances to the faces: 9.5 - k of the first tile, k + 0.5 of the second.
      const double share = (static_cast<double>(k) + 0.5) / 10;
      CHECK(at(10 + k) == doctest::Approx(100 + 100 * share).epsilon(1e-5));
    }
    CHECK(at(0) == 100);
    CHECK(at(29) == 200);
    CHECK(at(30) == 0);
  });
}

TEST_CASE("missing voxels and absent tiles leave their place to other tiles") {
  test::on_every_device([](const Device& device) {
    const Shape shape{16, 12, 20};
    const std::vector<VolumeMosaicTile> tiles{{shape, {}}, {shape, {}}, {shape, {}}};
    std::vector<std::uint8_t> dark(static_cast<std::size_t>(shape.pixels()), 100);
    std::vector<std::uint8_t> bright(dark.size(), 200);
    constexpr std::size_t plane = 16 * 12;
    for (std::size_t i = 0; i < plane; ++i) {
      dark[15 * plane + i] = 9;  // within the overlap
      dark[5 * plane + i] = 9;   // where there is no other tile
    }
    for (const bool between : {false, true}) {
      CAPTURE(between);
      const std::vector<std::uint8_t> found = fused_volume<std::uint8_t>(
          device, tiles, {{0, 0, 0}, {0, 0, between ? 10.25 : 10}, {0, 0, 25}},
          [&](std::size_t i) {
            if (i == 2) return TileVoxels{};
            return TileVoxels{{(i == 0 ? dark : bright).data(), PixelType::u8, shape}, {}};
          },
          {.volume = {16, 12, 33}, .type = PixelType::u8, .nodata = 9});
      const auto at = [&](std::size_t z) { return found[(z * 12 + 5) * 16 + 3]; };
      CHECK(at(15) == 200);
      CHECK(at(14) > 100);
      CHECK(at(14) < 200);
      CHECK(at(5) == 9);
      CHECK(at(4) == 100);
      CHECK(at(6) == 100);
      CHECK(at(32) == 9);  // no tile
    }
  });
}

TEST_CASE("wrong arguments of a fusion of volumes are refused") {
  const Device& device = test::devices().front();
  const DrawnVolumes drawn({.layers = 1, .rows = 1, .columns = 2});
  const PlaneSink sink = [](std::int64_t, const HostVolume&) {};
  const auto fuse = [&](const std::vector<Point3>& positions, const VolumeFusionSpec& spec) {
    fuse_volume_tiles(device, drawn.tiles, positions, drawn.source(), spec, sink);
  };
  const std::vector<Point3> positions{{0, 0, 0}, {70, 0, 0}};
  const Shape shape{166, 96, 24};
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_AS(fuse({{0, 0, 0}}, {.volume = shape, .type = PixelType::u16}), Error);
  CHECK_THROWS_AS(fuse({{0, 0, 0}, {0, 0, nan}}, {.volume = shape, .type = PixelType::u16}), Error);
  CHECK_THROWS_AS(fuse(positions, {.volume = {166, 96, 0}, .type = PixelType::u16}), Error);
  CHECK_THROWS_AS(fuse(positions, {.volume = shape, .type = PixelType::i32}), Error);
  CHECK_THROWS_AS(fuse(positions, {.volume = shape, .type = PixelType::u8}), Error);
  CHECK_THROWS_AS(fuse(positions, {.volume = shape, .type = PixelType::u16, .planes = 0}), Error);
  CHECK_THROWS_AS(fuse(positions, {.volume = shape, .type = PixelType::u16, .nodata = -1}), Error);
  CHECK_NOTHROW(fuse(positions, {.volume = shape, .type = PixelType::u16}));
}

}  // namespace
