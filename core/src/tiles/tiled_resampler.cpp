// Resampling of arrays of any size in host memory.
#include "device/check.hpp"
#include "device/lanes.hpp"
#include "tiles/point_bounds.hpp"
#include "tiles/tile_lane.hpp"
#include "tiles/tile_schedule.hpp"

#include <warpalign/error.hpp>
#include <warpalign/tiles.hpp>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace warpalign {

namespace {

constexpr const char* resampler_stage = "tiles";

std::int64_t rounded_up(std::int64_t length, std::int64_t limit) {
  constexpr std::int64_t multiple = 32;
  return std::min((length + multiple - 1) / multiple * multiple, limit);
}

/// Extends the tile's input at its end, so that most tiles have inputs of the same shape. An input
/// that ends at the end of the image does not change.
Tile padded(const ResampleSpec& spec, Tile tile) {
  Shape& shape = tile.input.shape;
  const auto room = [&](std::int64_t samples, std::int64_t begin, std::int64_t length) {
    return std::max(samples - begin, length);
  };
  shape.width =
      rounded_up(shape.width, room(spec.images.shape.width, tile.input.begin[0], shape.width));
  shape.height =
      rounded_up(shape.height, room(spec.images.shape.height, tile.input.begin[1], shape.height));
  shape.depth =
      rounded_up(shape.depth, room(spec.images.shape.depth, tile.input.begin[2], shape.depth));
  return tile;
}

}  // namespace

struct TiledResampler::State {
  State(const Device& on, const ResampleSpec& made_for, std::size_t bytes)
      : device(on), spec(made_for), max_bytes(bytes) {
    make_lanes(1);
  }

  void make_lanes(std::size_t count);
  std::size_t execute(const detail::HostArrays& arrays);
  [[nodiscard]] std::function<Tile(const Region&)> cutter(const detail::Points& points) const;
  [[nodiscard]] detail::TileSchedule passage_after(
      const std::optional<Error>& shortage,
      const std::function<Tile(const Region&)>& tile_of_region,
      const detail::MemoryLimit& limit) const;
  void run(const detail::TileSchedule& passage, const detail::HostArrays& arrays);
  void clear_lanes() noexcept;

  Device device;
  ResampleSpec spec;
  std::size_t max_bytes;
  std::vector<std::unique_ptr<detail::TileLane>> lanes;
  std::size_t bytes_of_lane = 0;  ///< limit of the device memory of a lane's plans
};

void TiledResampler::State::make_lanes(std::size_t count) {
  while (lanes.size() < count) {
    lanes.push_back(std::make_unique<detail::TileLane>(device, spec));
  }
}

void TiledResampler::State::clear_lanes() noexcept {
  for (const auto& lane : lanes) lane->clear();
}

std::function<Tile(const Region&)> TiledResampler::State::cutter(
    const detail::Points& points) const {
  if (points.transform != nullptr) {
    return [this, transform = *points.transform](const Region& region) {
      return padded(spec, tile_of(spec, transform, region));
    };
  }
  std::vector<detail::PointBounds> axes;
  for (std::int64_t axis = 0; axis < spec.images.dimensions; ++axis) {
    axes.emplace_back(points.coordinates + axis * spec.output.pixels(), spec.output,
                      detail::lanes_of(device));
  }
  return [this, axes = std::move(axes)](const Region& region) {
    std::array<detail::Interval, 3> bounds{};
    for (std::size_t axis = 0; axis < axes.size(); ++axis) bounds[axis] = axes[axis].of(region);
    Tile tile = tile_for_points(spec, {bounds[0].low, bounds[1].low, bounds[2].low},
                                {bounds[0].high, bounds[1].high, bounds[2].high});
    tile.output = region;
    return padded(spec, tile);
  };
}

void TiledResampler::State::run(const detail::TileSchedule& passage,
                                const detail::HostArrays& arrays) {
  if (passage.bytes_of_lane != bytes_of_lane) clear_lanes();
  bytes_of_lane = passage.bytes_of_lane;
  make_lanes(passage.lanes);
  const bool alone = passage.lanes == 1;
  detail::run_in_lanes(passage.lanes, passage.tiles.size(), [&](std::size_t lane, std::size_t i) {
    lanes[lane]->run(passage.tiles[i], passage.own[i], arrays, bytes_of_lane, alone);
  });
}

// If the tiles cannot be small enough for the memory that the device had left, the error is the
// device's shortage of memory, not the limit.
detail::TileSchedule TiledResampler::State::passage_after(
    const std::optional<Error>& shortage, const std::function<Tile(const Region&)>& tile_of_region,
    const detail::MemoryLimit& limit) const {
  try {
    return detail::tile_schedule(device.info().kind, spec, tile_of_region, limit);
  } catch (const Error& error) {
    if (shortage && error.kind() == ErrorKind::out_of_memory) throw Error(*shortage);
    throw;
  }
}

std::size_t TiledResampler::State::execute(const detail::HostArrays& arrays) {
  const auto tile_of_region = cutter(arrays.points);
  detail::MemoryLimit limit{max_bytes, device.info().max_allocation_bytes,
                            detail::bytes_of_point(spec, arrays.points)};
  std::optional<Error> shortage;  // the device's error at a size within the limit
  for (;; limit.bytes /= 2) {
    const detail::TileSchedule passage = passage_after(shortage, tile_of_region, limit);
    try {
      run(passage, arrays);
      return passage.tiles.size();
    } catch (const Error& error) {
      clear_lanes();
      if (error.kind() != ErrorKind::out_of_memory) throw;
      shortage = error;
    }
  }
}

TiledResampler::TiledResampler(const Device& device, const ResampleSpec& spec,
                               std::size_t max_bytes) {
  if (spec.images.count != 1)
    detail::refuse(resampler_stage,
                   "images.count must be 1, not " + std::to_string(spec.images.count));
  static_cast<void>(tile_of(spec, {}, {{}, spec.output}));  // checks the spec
  state_ =
      std::make_unique<State>(device, spec, max_bytes == 0 ? max_device_memory(device) : max_bytes);
}

TiledResampler::TiledResampler(TiledResampler&&) noexcept = default;
TiledResampler& TiledResampler::operator=(TiledResampler&&) noexcept = default;
TiledResampler::~TiledResampler() = default;

std::size_t TiledResampler::execute(const void* image, const HomogeneousMatrix& output_to_input,
                                    void* output) {
  if (image == nullptr || output == nullptr) detail::refuse(resampler_stage, "there are no pixels");
  return state_->execute({static_cast<const std::byte*>(image),
                          {&output_to_input, nullptr},
                          static_cast<std::byte*>(output)});
}

std::size_t TiledResampler::execute(const void* image, std::span<const float> coordinates,
                                    void* output) {
  if (image == nullptr || output == nullptr) detail::refuse(resampler_stage, "there are no pixels");
  const auto expected =
      static_cast<std::size_t>(state_->spec.output.pixels() * state_->spec.images.dimensions);
  if (coordinates.size() != expected) {
    detail::refuse(resampler_stage, "there are " + std::to_string(coordinates.size()) +
                                        " coordinates, but the output needs " +
                                        std::to_string(expected));
  }
  return state_->execute({static_cast<const std::byte*>(image),
                          {nullptr, coordinates.data()},
                          static_cast<std::byte*>(output)});
}

}  // namespace warpalign
