// Finds pairs of tiles that overlap when nothing is known of their positions.
#pragma once

#include "mosaic/pair_registration.hpp"

#include <span>
#include <vector>

namespace warpalign::detail {

/// Registers tiles, reduced to a side of 512 pixels, in whole and by strips along their edges.
/// Up to 24 tiles are all compared with each other. More tiles are compared by the distance of
/// their numbers, until the pairs connect all tiles: neighbours are usually taken one after the
/// other. Returns the accepted pairs by increasing numbers, with shifts in pixels of the tiles.
/// Throws as register_overlaps() does.
[[nodiscard]] std::vector<MeasuredPair> search_pairs(std::span<const Device> devices,
                                                     std::span<const MosaicTile> tiles,
                                                     TileCache& cache, const MosaicOptions& options,
                                                     PairRecords& records);

}  // namespace warpalign::detail
