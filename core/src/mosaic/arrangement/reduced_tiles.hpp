// Tiles at a lower resolution, for the search for pairs.
#pragma once

#include "mosaic/tile_cache.hpp"

#include <warpalign/mosaic.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace warpalign::detail {

/// Tiles reduced by one whole factor to sides of at most 512 pixels, if the smallest side allows.
class ReducedTiles {
 public:
  ReducedTiles(std::span<const MosaicTile> tiles, TileCache& cache);

  /// The tiles with their reduced shapes.
  [[nodiscard]] std::span<const MosaicTile> tiles() const noexcept { return tiles_; }
  [[nodiscard]] std::int64_t factor() const noexcept { return factor_; }
  /// A tile of which each pixel is the mean of `factor()` x `factor()` pixels. Any number of
  /// threads may call it. Throws what the cache throws.
  [[nodiscard]] TilePixels read(std::size_t tile) const;

 private:
  TileCache& cache_;
  std::vector<MosaicTile> tiles_;
  std::int64_t factor_ = 1;
};

}  // namespace warpalign::detail
