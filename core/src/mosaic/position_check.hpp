// Finds out why positions do not fit the tiles.
#pragma once

#include "mosaic/pair_records.hpp"
#include "mosaic/tile_cache.hpp"

#include <warpalign/mosaic.hpp>

#include <span>
#include <string>

namespace warpalign::detail {

/// Registers some neighbouring tiles as a whole, at any shift, and compares the shifts with those
/// of the stage. Returns how the positions would fit, for example "with x and y exchanged"; empty
/// if they do fit, or if the pairs agree on nothing.
[[nodiscard]] std::string fitting_exchange(std::span<const Device> devices,
                                           std::span<const MosaicTile> tiles, TileCache& cache,
                                           const MosaicOptions& options, PairRecords& records);

}  // namespace warpalign::detail
