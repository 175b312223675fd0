// Tiles at a lower resolution, for the search for pairs.
#include "mosaic/arrangement/reduced_tiles.hpp"

#include "mosaic/overlap.hpp"
#include "values/real_pixels.hpp"

#include <algorithm>
#include <limits>
#include <memory>

namespace warpalign::detail {

ReducedTiles::ReducedTiles(std::span<const MosaicTile> tiles, TileCache& cache) : cache_(cache) {
  constexpr std::int64_t max_side = 512;
  std::int64_t largest = 0;
  std::int64_t smallest = std::numeric_limits<std::int64_t>::max();
  for (const MosaicTile& tile : tiles) {
    largest = std::max({largest, tile.shape.width, tile.shape.height});
    smallest = std::min({smallest, tile.shape.width, tile.shape.height});
  }
  factor_ = std::min((largest + max_side - 1) / max_side, smallest / min_registered_side);
  for (const MosaicTile& tile : tiles) {
    tiles_.push_back({{tile.shape.width / factor_, tile.shape.height / factor_, 1}, {}});
  }
}

TilePixels ReducedTiles::read(std::size_t tile) const {
  TilePixels full = cache_.get(tile);
  if (factor_ == 1 || is_absent(full)) return full;
  const Shape& shape = tiles_[tile].shape;
  const RealPixels pixels(full.image);
  const auto means = std::make_shared<std::vector<float>>();
  means->reserve(static_cast<std::size_t>(shape.pixels()));
  const double area = static_cast<double>(factor_ * factor_);
  for (std::int64_t y = 0; y < shape.height; ++y) {
    for (std::int64_t x = 0; x < shape.width; ++x) {
      double sum = 0;
      for (std::int64_t j = 0; j < factor_; ++j) {
        for (std::int64_t i = 0; i < factor_; ++i) {
          sum += pixels.at(x * factor_ + i, y * factor_ + j);
        }
      }
      means->push_back(static_cast<float>(sum / area));
    }
  }
  return {{means->data(), PixelType::f32, shape.width, shape.height, 0}, means};
}

}  // namespace warpalign::detail
