// Tiles of one shape, which share a plan and its memory.
#pragma once

#include "tiles/fitting_tiles.hpp"

#include <warpalign/tiles.hpp>

#include <functional>
#include <vector>

namespace warpalign::detail {

/// Tiles that compute the same pixels and all have the same shapes of output and input and the same
/// boundary: those at the output's end begin earlier, and inputs take in more samples. Returns the
/// given tiles where that cannot be: under `wrap` and `grid_wrap`, where a region may go round or
/// take a whole axis, and where the least common shape does not fit.
[[nodiscard]] std::vector<Tile> equal_tiles(
    const ResampleSpec& spec, std::vector<Tile> tiles,
    const std::function<Tile(const Region&)>& tile_of_region, const MemoryLimit& limit);

}  // namespace warpalign::detail
