// Brings tiles, images or volumes, to the grid of the fused array.
#pragma once

#include "device/check.hpp"
#include "mosaic/blended_strip.hpp"
#include "mosaic/mosaic_types.hpp"

#include <warpalign/missing.hpp>
#include <warpalign/mosaic.hpp>
#include <warpalign/stages/resample.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace warpalign::detail {

/// Resamples tiles of one shape and type by fractions of a pixel, without their distortion, or to
/// another grid.
class TileResampler {
 public:
  /// `dimensions`: 2 for images, 3 for volumes, which have no distortion.
  TileResampler(const Device& device, const Shape& shape, const Shape& output, int dimensions,
                PixelType type, const TileDistortion& distortion, const SplineModel& spline = {});

  /// Reads a dense tile `fraction` pixels before each pixel of the output.
  void resample(std::span<const std::byte> tile, const Point3& fraction,
                std::span<std::byte> output);
  /// Reads a dense tile at output_to_tile(output pixel), whatever its distortion.
  void resample(std::span<const std::byte> tile, const HomogeneousMatrix& output_to_tile,
                std::span<std::byte> output);

 private:
  [[nodiscard]] std::vector<float> moved_field(const Point3& fraction) const;

  Shape shape_;
  Stream stream_;
  Image input_;
  Image output_;
  ResamplePlan resample_;
  std::vector<float> field_;  ///< empty without a distortion
  std::optional<Image> coordinates_;
};

/// Fills missing pixels of tiles, and resamples tiles to the grid.
class TileLoader {
 public:
  /// `dimensions`: 2 for images, 3 for volumes. `type` is u8, u16 or f32.
  TileLoader(const Device& device, int dimensions, PixelType type, const TileDistortion& distortion,
             std::optional<double> nodata)
      : device_(device),
        dimensions_(dimensions),
        type_(type),
        distortion_(distortion),
        nodata_(nodata) {}

  /// A tile whose first pixel lies at a position of the grid, without channels.
  [[nodiscard]] PlacedTile place(const Shape& shape, const Point3& position) const;
  /// The same for a rotated tile. `grid` is the shape of the part of the grid that it fills.
  [[nodiscard]] static PlacedTile place(const Shape& shape, const Homography& matrix,
                                        const Shape& grid);
  /// Adds a channel to a tile: dense pixels, as the tile has them.
  void add_channel(PlacedTile& tile, std::vector<std::byte> bytes);

 private:
  using Key = std::tuple<std::int64_t, std::int64_t, std::int64_t>;
  using Resamplers = std::map<Key, TileResampler>;

  /// Resamples pixels of a tile to the grid.
  [[nodiscard]] std::vector<std::byte> on_grid(const PlacedTile& tile, Resamplers& resamplers,
                                               std::vector<std::byte> pixels, PixelType type,
                                               const SplineModel& spline);
  void move_known(const PlacedTile& tile, std::vector<std::uint8_t>& known);

  Device device_;
  int dimensions_;
  PixelType type_;
  TileDistortion distortion_;
  std::optional<double> nodata_;
  Resamplers resamplers_, mask_resamplers_;  ///< by the tiles' shapes
};

/// Throws unless all tiles have a position, and the type is one of a fused array that can hold the
/// value of missing pixels.
template <class P>
void check_fusion(const char* stage, std::span<const typename MosaicTypes<P>::Tile> tiles,
                  std::span<const P> positions, PixelType type, std::optional<double> nodata,
                  std::int64_t max_depth) {
  check_grey(stage, axes_of<P> == 2 ? "the picture" : "the volume", type);
  if (nodata && !can_hold(type, *nodata)) {
    refuse(stage, "no pixel of the type " + std::string(name_of(type)) + " can have the value " +
                      std::to_string(*nodata) + " of nodata");
  }
  if (positions.size() != tiles.size()) {
    refuse(stage, "there are " + std::to_string(positions.size()) + " positions for " +
                      std::to_string(tiles.size()) + " tiles; give one for each");
  }
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    check_shape(stage, ("tile " + std::to_string(i)).c_str(), tiles[i].shape, max_depth);
    constexpr double far = 1 << 30;
    if (is_finite(positions[i]) && largest_coordinate(positions[i]) < far) continue;
    refuse(stage, "the position of tile " + std::to_string(i) + " is not finite or beyond 2^30");
  }
}

/// Throws unless the pixels of a tile are of this shape and type.
inline void check_tile_pixels(const char* stage, std::size_t tile, const Shape& shape,
                              PixelType type, const Shape& expected, PixelType expected_type) {
  if (shape == expected && type == expected_type) return;
  refuse(stage, "tile " + std::to_string(tile) + " is " + to_string(shape) + " of type " +
                    name_of(type) + ", but " + to_string(expected) + " of type " +
                    name_of(expected_type) + " is expected");
}

}  // namespace warpalign::detail
