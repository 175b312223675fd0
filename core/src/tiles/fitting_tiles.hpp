// The largest tiles that fit a device's memory.
#pragma once

#include <warpalign/tiles.hpp>

#include <cstddef>
#include <functional>
#include <vector>

namespace warpalign::detail {

/// The regions of the given shape that cover the output, row by row; those at its end are smaller.
[[nodiscard]] std::vector<Region> regions_of(const Shape& output, const Shape& tile);

/// What a tile may take of a device.
struct MemoryLimit {
  std::size_t bytes = 0;           ///< in all
  std::size_t max_allocation = 0;  ///< at once; 0: any
  std::size_t per_pixel = 0;       ///< bytes that each pixel of the output takes besides
};

/// Whether a tile keeps to the limit.
[[nodiscard]] bool fits(const ResampleSpec& spec, const Tile& tile, const MemoryLimit& limit);

/// Cuts the output into more and more parts until every tile that `tile_of_region` gives
/// fits. Throws Error(out_of_memory).
[[nodiscard]] std::vector<Tile> fitting_tiles(
    const ResampleSpec& spec, const std::function<Tile(const Region&)>& tile_of_region,
    const MemoryLimit& limit);

}  // namespace warpalign::detail
