// Tiles of the same shape, which share a plan and its memory.
#pragma once

#include "tiles/fitting_tiles.hpp"

#include <warpalign/tiles.hpp>

#include <functional>
#include <vector>

namespace warpalign::detail {

/// Returns tiles that compute the same pixels with the same output shape, input shape and boundary:
/// tiles at the end of the output begin earlier, and inputs include more samples. Returns the given
/// tiles if this is impossible: with `wrap` and `grid_wrap`, whose regions may wrap around or
/// include a whole axis, and if the smallest common shape exceeds the limit.
[[nodiscard]] std::vector<Tile> equal_tiles(
    const ResampleSpec& spec, std::vector<Tile> tiles,
    const std::function<Tile(const Region&)>& tile_of_region, const MemoryLimit& limit);

}  // namespace warpalign::detail
