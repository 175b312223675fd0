// Positions of tiles from pairs alone.
#pragma once

#include "mosaic/placement.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace warpalign::detail {

/// First positions of tiles of which only pairs are known.
struct Arrangement {
  std::vector<Point> positions;         ///< components lie side by side
  std::vector<std::size_t> components;  ///< of each tile
  std::vector<bool> consistent;         ///< for each link: whether the positions agree with it
};

/// Positions along that spanning tree with which most links agree to `tolerance` pixels, of the
/// tree of the most confident links and, if some disagree with it, random ones: a wrong link
/// contradicts the cycles that it closes.
[[nodiscard]] Arrangement arrange_tiles(std::span<const MosaicTile> tiles,
                                        std::span<const ShiftLink> links, double tolerance);

/// Moves the components of tiles side by side, in the order of their numbers, with a gap between
/// them.
void lay_side_by_side(std::span<const MosaicTile> tiles, std::span<const std::size_t> components,
                      std::vector<Point>& positions);

}  // namespace warpalign::detail
