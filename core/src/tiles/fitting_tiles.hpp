// The largest tiles that fit into a device's memory.
#pragma once

#include <warpalign/tiles.hpp>

#include <cstddef>
#include <functional>
#include <vector>

namespace warpalign::detail {

/// Covers the output with regions of the given shape, row by row. The last regions may be smaller.
[[nodiscard]] std::vector<Region> regions_of(const Shape& output, const Shape& tile);

/// Limits of the device memory of a tile.
struct MemoryLimit {
  std::size_t bytes = 0;           ///< largest total size
  std::size_t max_allocation = 0;  ///< largest single allocation; 0: unlimited
  std::size_t per_pixel = 0;       ///< additional bytes that each pixel of the output takes
};

/// Whether a tile is within the limits.
[[nodiscard]] bool fits(const ResampleSpec& spec, const Tile& tile, const MemoryLimit& limit);

/// Divides the output into more and more parts until every tile of `tile_of_region` fits. Throws
/// Error(out_of_memory) if the smallest tiles do not fit.
[[nodiscard]] std::vector<Tile> fitting_tiles(
    const ResampleSpec& spec, const std::function<Tile(const Region&)>& tile_of_region,
    const MemoryLimit& limit);

}  // namespace warpalign::detail
