// Tiles without the distortion that they have in common.
#pragma once

#include "mosaic/tile_cache.hpp"

#include <warpalign/mosaic.hpp>
#include <warpalign/stages/resample.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace warpalign::detail {

/// Where to read a tile of this shape, so that pixel q of the result is the point that the
/// undistorted tile shows at q + `offset`: a coordinate field for ResamplePlan, all x, then all y.
[[nodiscard]] std::vector<float> undistorted_coordinates(const TileDistortion& distortion,
                                                         const Shape& shape, const Point& offset);

/// The smallest whole number of pixels such that undistorted tiles of this shape, without a border
/// of that width, need no pixel outside of the tile.
[[nodiscard]] std::int64_t undistorted_border(const TileDistortion& distortion, const Shape& shape);

/// Resamples tiles on the device. Any number of threads may use it.
class UndistortedTiles {
 public:
  /// All tiles have the same shape. `cache` must outlive this object.
  UndistortedTiles(const Device& device, std::span<const MosaicTile> tiles, TileCache& cache,
                   const TileDistortion& distortion);

  /// The tiles without border; their positions are those of the given tiles.
  [[nodiscard]] const std::vector<MosaicTile>& tiles() const { return tiles_; }
  /// The pixels of such a tile, as f32; NaN where the nearest pixel of the tile is missing.
  [[nodiscard]] TilePixels read(std::size_t tile);

 private:
  void mark(std::span<const std::uint8_t> known, std::vector<float>& pixels) const;

  Device device_;
  TileCache& cache_;
  Shape whole_;
  std::int64_t border_;
  std::vector<MosaicTile> tiles_;
  std::mutex mutex_;
  Stream stream_;
  std::vector<float> field_;  // the coordinates
  Image coordinates_;
  Image output_;
  std::map<PixelType, ResamplePlan> plans_;
};

}  // namespace warpalign::detail
