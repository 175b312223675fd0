// Through how much of a device's memory an array passes, and how.
#pragma once

#include "tiles/fitting_tiles.hpp"

#include <warpalign/device.hpp>
#include <warpalign/tiles.hpp>

#include <cstddef>
#include <functional>
#include <vector>

namespace warpalign::detail {

/// Tiles, and the lanes that share the memory.
struct Passage {
  std::vector<Tile> tiles;
  /// The pixels that are each tile's own: tiles may overlap, but of those that are under way at the
  /// same time only one may store a pixel.
  std::vector<Region> own;
  std::size_t lanes = 1;
  std::size_t bytes_of_lane = 0;
};

/// The whole in one lane where it fits. Else as many lanes as the device gains by, each with its
/// part of the memory: fewer, where tiles so small would be mostly halo. Throws
/// Error(out_of_memory) where no tile fits.
[[nodiscard]] Passage passage_of(DeviceKind kind, const ResampleSpec& spec,
                                 const std::function<Tile(const Region&)>& tile_of_region,
                                 const MemoryLimit& limit);

}  // namespace warpalign::detail
