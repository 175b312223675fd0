// Keeps tiles that several pairs need.
#pragma once

#include <warpalign/mosaic.hpp>

#include <cstddef>
#include <future>
#include <list>
#include <mutex>
#include <span>
#include <unordered_map>

namespace warpalign::detail {

/// Whether a tile has no pixels.
[[nodiscard]] inline bool is_absent(const TilePixels& tile) { return tile.image.data == nullptr; }

/// Reads each tile once while memory suffices; any number of threads may use it. A tile that one
/// thread reads is not read by another one at the same time.
class TileCache {
 public:
  /// `max_bytes` of pixels are kept after use. `source` and `tiles` must outlive the cache.
  TileCache(std::span<const MosaicTile> tiles, const TileSource& source, std::size_t max_bytes)
      : tiles_(tiles), source_(source), max_bytes_(max_bytes) {}

  /// The pixels of a tile. Throws what the source throws, and Error(invalid_argument) for pixels of
  /// another shape or a type that cannot be registered.
  [[nodiscard]] TilePixels get(std::size_t tile);

 private:
  struct Entry {
    std::shared_future<TilePixels> pixels;
    std::list<std::size_t>::iterator used;
    std::size_t bytes = 0;
  };

  [[nodiscard]] TilePixels read(std::size_t tile) const;
  void drop_oldest();

  std::span<const MosaicTile> tiles_;
  const TileSource& source_;
  std::size_t max_bytes_;
  std::size_t bytes_ = 0;
  std::mutex mutex_;
  std::list<std::size_t> by_use_;  ///< the most recent first
  std::unordered_map<std::size_t, Entry> entries_;
};

}  // namespace warpalign::detail
