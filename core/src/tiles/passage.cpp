// Through how much of a device's memory an array passes, and how.
#include "tiles/passage.hpp"

#include "device/lanes.hpp"
#include "tiles/equal_tiles.hpp"

#include <warpalign/error.hpp>

#include <algorithm>
#include <optional>

namespace warpalign::detail {
namespace {

/// Larger tiles would spare few samples of halos, but take more of the host's pinned memory, and
/// the first upload and the last download overlap with nothing.
constexpr std::size_t most_bytes_of_lane = std::size_t{1} << 30;

/// How many times as many samples and pixels smaller tiles may have in all as the largest ones: the
/// host copies those of a GPU in all lanes at once, while a CPU computes them with the same cores.
double most_growth(DeviceKind kind) { return kind == DeviceKind::cpu ? 1.1 : 1.5; }

double pixels_of(const Passage& passage) {
  double pixels = 0;
  for (const Tile& tile : passage.tiles) {
    pixels += static_cast<double>(tile.input.shape.pixels() + tile.output.shape.pixels());
  }
  return pixels;
}

Passage passage_in(std::size_t lanes, const ResampleSpec& spec,
                   const std::function<Tile(const Region&)>& tile_of_region,
                   const MemoryLimit& limit) {
  Passage passage;
  std::vector<Tile> tiles = fitting_tiles(spec, tile_of_region, limit);
  for (const Tile& tile : tiles) passage.own.push_back(tile.output);
  passage.tiles = equal_tiles(spec, std::move(tiles), tile_of_region, limit);
  passage.lanes = std::min(lanes, passage.tiles.size());
  passage.bytes_of_lane = limit.bytes;
  return passage;
}

std::optional<Passage> passage_if_any(std::size_t lanes, const ResampleSpec& spec,
                                      const std::function<Tile(const Region&)>& tile_of_region,
                                      MemoryLimit limit) {
  limit.bytes = std::min(limit.bytes / lanes, most_bytes_of_lane);
  try {
    return passage_in(lanes, spec, tile_of_region, limit);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::out_of_memory) throw;
    return std::nullopt;
  }
}

}  // namespace

Passage passage_of(DeviceKind kind, const ResampleSpec& spec,
                   const std::function<Tile(const Region&)>& tile_of_region,
                   const MemoryLimit& limit) {
  Passage one = passage_in(1, spec, tile_of_region, limit);
  if (one.tiles.size() == 1) return one;
  const double most_pixels = most_growth(kind) * pixels_of(one);
  for (std::size_t lanes = lanes_of(kind); lanes > 1; --lanes) {
    std::optional<Passage> several = passage_if_any(lanes, spec, tile_of_region, limit);
    if (several && pixels_of(*several) <= most_pixels) return *std::move(several);
  }
  return one;
}

}  // namespace warpalign::detail
