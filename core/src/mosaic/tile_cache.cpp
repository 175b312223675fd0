// Keeps tiles that several pairs need.
#include "mosaic/tile_cache.hpp"

#include "device/check.hpp"
#include "mosaic/stage_name.hpp"

#include <string>
#include <utility>

namespace warpalign::detail {

TilePixels TileCache::read(std::size_t tile) const {
  TilePixels pixels = source_(tile);
  if (is_absent(pixels)) return pixels;
  check_real(mosaic_stage, "a tile", pixels.image.type);
  if (pixels.image.shape() != tiles_[tile].shape) {
    refuse(mosaic_stage, "tile " + std::to_string(tile) + " is " + to_string(pixels.image.shape()) +
                             ", but its shape was given as " + to_string(tiles_[tile].shape));
  }
  return pixels;
}

void TileCache::drop_oldest() {
  while (bytes_ > max_bytes_ && by_use_.size() > 1) {
    const auto found = entries_.find(by_use_.back());
    bytes_ -= found->second.bytes;
    entries_.erase(found);
    by_use_.pop_back();
  }
}

TilePixels TileCache::get(std::size_t tile) {
  std::promise<TilePixels> promise;
  std::shared_future<TilePixels> pixels;
  bool reads = false;
  {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(tile);
    if (found != entries_.end()) {
      by_use_.splice(by_use_.begin(), by_use_, found->second.used);
      pixels = found->second.pixels;
    } else {
      reads = true;
      pixels = promise.get_future().share();
      by_use_.push_front(tile);
      entries_.emplace(tile, Entry{pixels, by_use_.begin(), 0});
    }
  }
  if (reads) {
    try {
      promise.set_value(read(tile));
    } catch (...) {
      promise.set_exception(std::current_exception());
    }
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(tile);
    if (found != entries_.end() && found->second.bytes == 0) {
      const Shape& shape = tiles_[tile].shape;
      found->second.bytes = static_cast<std::size_t>(shape.pixels()) * sizeof(float);
      bytes_ += found->second.bytes;
      drop_oldest();
    }
  }
  return pixels.get();
}

}  // namespace warpalign::detail
