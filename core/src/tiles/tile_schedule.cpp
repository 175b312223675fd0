// The schedule of tiles: their size, and the lanes that share the device's memory.
#include "tiles/tile_schedule.hpp"

#include "device/lanes.hpp"
#include "tiles/equal_tiles.hpp"

#include <warpalign/error.hpp>

#include <algorithm>
#include <optional>

namespace warpalign::detail {
namespace {

/// Larger tiles would save few samples of halos, but need more pinned host memory, and their first
/// upload and last download do not overlap with any other work.
constexpr std::size_t max_bytes_of_lane = std::size_t{1} << 30;

/// The largest ratio of the total samples and pixels of smaller tiles to those of the largest
/// tiles. With a GPU, the host copies them in all lanes at once; a CPU device needs the same cores
/// for it.
double max_growth(DeviceKind kind) { return kind == DeviceKind::cpu ? 1.1 : 1.5; }

double pixels_of(const TileSchedule& passage) {
  double pixels = 0;
  for (const Tile& tile : passage.tiles) {
    pixels += static_cast<double>(tile.input.shape.pixels() + tile.output.shape.pixels());
  }
  return pixels;
}

TileSchedule passage_in(std::size_t lanes, const ResampleSpec& spec,
                        const std::function<Tile(const Region&)>& tile_of_region,
                        const MemoryLimit& limit) {
  TileSchedule passage;
  std::vector<Tile> tiles = fitting_tiles(spec, tile_of_region, limit);
  for (const Tile& tile : tiles) passage.own.push_back(tile.output);
  passage.tiles = equal_tiles(spec, std::move(tiles), tile_of_region, limit);
  passage.lanes = std::min(lanes, passage.tiles.size());
  passage.bytes_of_lane = limit.bytes;
  return passage;
}

std::optional<TileSchedule> passage_if_any(std::size_t lanes, const ResampleSpec& spec,
                                           const std::function<Tile(const Region&)>& tile_of_region,
                                           MemoryLimit limit) {
  limit.bytes = std::min(limit.bytes / lanes, max_bytes_of_lane);
  try {
    return passage_in(lanes, spec, tile_of_region, limit);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::out_of_memory) throw;
    return std::nullopt;
  }
}

}  // namespace

TileSchedule tile_schedule(DeviceKind kind, const ResampleSpec& spec,
                           const std::function<Tile(const Region&)>& tile_of_region,
                           const MemoryLimit& limit) {
  TileSchedule one = passage_in(1, spec, tile_of_region, limit);
  if (one.tiles.size() == 1) return one;
  const double max_pixels = max_growth(kind) * pixels_of(one);
  for (std::size_t lanes = lanes_of(kind); lanes > 1; --lanes) {
    std::optional<TileSchedule> several = passage_if_any(lanes, spec, tile_of_region, limit);
    if (several && pixels_of(*several) <= max_pixels) return *std::move(several);
  }
  return one;
}

}  // namespace warpalign::detail
