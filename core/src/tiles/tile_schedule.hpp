// The schedule of tiles: their size, and the lanes that share the device's memory.
#pragma once

#include "tiles/fitting_tiles.hpp"

#include <warpalign/device.hpp>
#include <warpalign/tiles.hpp>

#include <cstddef>
#include <functional>
#include <vector>

namespace warpalign::detail {

/// Tiles, and the lanes that share the memory.
struct TileSchedule {
  std::vector<Tile> tiles;
  /// The pixels that each tile stores. Tiles may overlap, but two concurrent tiles must not store
  /// the same pixel.
  std::vector<Region> own;
  std::size_t lanes = 1;
  std::size_t bytes_of_lane = 0;
};

/// One tile in one lane if it fits. Otherwise as many lanes as the device benefits from, each with
/// an equal part of the memory, but fewer if such small tiles would be mostly halo. Throws
/// Error(out_of_memory) if no tile fits.
[[nodiscard]] TileSchedule tile_schedule(DeviceKind kind, const ResampleSpec& spec,
                                         const std::function<Tile(const Region&)>& tile_of_region,
                                         const MemoryLimit& limit);

}  // namespace warpalign::detail
