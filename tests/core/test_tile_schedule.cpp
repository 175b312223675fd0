// The number of lanes in which tiles run, and the pixels that each tile stores.
#include "device/lanes.hpp"
#include "tiles/region_copy.hpp"
#include "tiles/tile_schedule.hpp"

#include <warpalign/error.hpp>
#include <warpalign/tiles.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <vector>

namespace {

using warpalign::Boundary;
using warpalign::DeviceKind;
using warpalign::HomogeneousMatrix;
using warpalign::Region;
using warpalign::ResampleSpec;
using warpalign::Shape;
using warpalign::Tile;
using warpalign::detail::TileSchedule;

ResampleSpec spec_of(const Shape& shape) {
  ResampleSpec spec;
  spec.images.shape = spec.output = shape;
  spec.images.dimensions = shape.depth > 1 ? 3 : 2;
  spec.spline.boundary = Boundary::mirror;
  return spec;
}

TileSchedule tile_schedule(DeviceKind kind, const ResampleSpec& spec, std::size_t bytes) {
  const HomogeneousMatrix rotation = warpalign::Affine{0.95, -0.31, 12.3, 0.31, 0.95, -20.4};
  const auto tile_of_region = [&](const Region& region) {
    return warpalign::tile_of(spec, rotation, region);
  };
  return warpalign::detail::tile_schedule(kind, spec, tile_of_region, {bytes});
}

/// How many tiles store each pixel of the output.
std::vector<std::byte> times_stored(const ResampleSpec& spec, const TileSchedule& passage) {
  std::vector<std::byte> times(static_cast<std::size_t>(spec.output.pixels()));
  for (std::size_t i = 0; i < passage.tiles.size(); ++i) {
    const Region& box = passage.tiles[i].output;
    std::vector<std::byte> pixels(static_cast<std::size_t>(box.shape.pixels()));
    warpalign::detail::gather(times.data(), spec.output, box, 1, pixels.data());
    for (std::byte& pixel : pixels) pixel = static_cast<std::byte>(std::to_integer<int>(pixel) + 1);
    warpalign::detail::scatter(pixels.data(), box, times.data(), spec.output, passage.own[i], 1);
  }
  return times;
}

}  // namespace

TEST_CASE("passage: an image that fits is one tile in one lane") {
  const TileSchedule passage = tile_schedule(DeviceKind::gpu, spec_of({400, 300, 1}), 10'000'000);
  CHECK(passage.tiles.size() == 1);
  CHECK(passage.lanes == 1);
  CHECK(passage.bytes_of_lane == 10'000'000);
}

TEST_CASE("passage: lanes share the memory") {
  const ResampleSpec spec = spec_of({4096, 3000, 1});
  for (const DeviceKind kind : {DeviceKind::gpu, DeviceKind::cpu}) {
    constexpr std::size_t bytes = 20'000'000;
    const TileSchedule passage = tile_schedule(kind, spec, bytes);
    CHECK(passage.lanes == warpalign::detail::lanes_of(kind));
    CHECK(passage.lanes * passage.bytes_of_lane <= bytes);
    for (const Tile& tile : passage.tiles) {
      CHECK(warpalign::tile_bytes(spec, tile) <= passage.bytes_of_lane);
    }
  }
}

TEST_CASE("passage: fewer lanes if small tiles would be mostly halo") {
  // A tile of a volume with a halo of 16 samples on each side.
  const ResampleSpec spec = spec_of({200, 200, 200});
  constexpr std::size_t bytes = 6'000'000;
  const TileSchedule passage = tile_schedule(DeviceKind::cpu, spec, bytes);
  CHECK(passage.tiles.size() > 1);
  CHECK(passage.lanes == 1);
  CHECK(passage.bytes_of_lane == bytes);
}

TEST_CASE("passage: one lane if the tiles of two would be too small") {
  const TileSchedule passage = tile_schedule(DeviceKind::gpu, spec_of({300, 280, 1}), 80'000);
  CHECK(passage.tiles.size() > 1);
  CHECK(passage.lanes == 1);
  CHECK_THROWS_AS(static_cast<void>(tile_schedule(DeviceKind::gpu, spec_of({300, 280, 1}), 10'000)),
                  warpalign::Error);
}

TEST_CASE("passage: every pixel is stored once, though tiles overlap") {
  const ResampleSpec spec = spec_of({1001, 777, 1});
  const TileSchedule passage = tile_schedule(DeviceKind::gpu, spec, 2'000'000);
  std::int64_t computed = 0;
  for (const Tile& tile : passage.tiles) computed += tile.output.shape.pixels();
  REQUIRE(computed > spec.output.pixels());
  const std::vector<std::byte> times = times_stored(spec, passage);
  CHECK(times == std::vector<std::byte>(times.size(), std::byte{1}));
}
