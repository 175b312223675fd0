// Blends tiles that lie on the picture's grid.
#pragma once

#include <warpalign/geometry.hpp>
#include <warpalign/pixel.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace warpalign::detail {

/// The last pixel of the picture's grid that does not lie after a position, along one axis. A
/// position that lies less than a thousandth of a pixel before a pixel counts as lying on it.
inline constexpr double grid_tolerance = 1e-3;
[[nodiscard]] inline std::int64_t pixel_before(double position) {
  return static_cast<std::int64_t>(std::floor(position + grid_tolerance));
}

/// How a tile that is rotated, scaled or tilted lies on the grid.
struct RotatedGrid {
  Homography to_tile;  ///< from pixels of the grid to those of the tile
  Shape tile;          ///< the shape of the tile itself
};

/// A tile whose pixels are those of the picture's grid. Images lie in plane 0.
struct PlacedTile {
  std::array<std::int64_t, 3> first{};  ///< the grid's column, row and plane of the first pixel
  Shape shape;
  /// How far the tile's own first pixel lies after that, 0 to 1. Above 0, the first column (row,
  /// plane) lies outside of the tile.
  Point3 fraction;
  std::int64_t border = 0;               ///< so many columns and rows at each edge show nothing
  std::optional<RotatedGrid> rotated{};  ///< instead of `fraction` and `border`
  std::vector<std::vector<std::byte>> channels;  ///< dense pixels
  /// For each channel and pixel 0 if it is missing; empty if none of the channel is.
  std::vector<std::vector<std::uint8_t>> known;

  /// The grid's first column (row, plane) after the tile.
  [[nodiscard]] std::int64_t end(std::size_t axis) const {
    const std::array sides{shape.width, shape.height, shape.depth};
    return first[axis] + sides[axis];
  }
};

/// Blends rows of the picture. Keeps its memory from strip to strip.
class BlendedStrip {
 public:
  /// `nodata`: the value of pixels for which no tile has one, else 0. Others avoid it.
  BlendedStrip(std::int64_t width, std::int64_t max_rows, PixelType type,
               std::optional<double> nodata);

  /// The rows [top, top + rows) of a plane of a channel. Integers are rounded to the nearest.
  [[nodiscard]] std::vector<std::byte> blend(std::span<const PlacedTile> tiles, std::size_t channel,
                                             std::int64_t plane, std::int64_t top,
                                             std::int64_t rows);

 private:
  void add(const PlacedTile& tile, std::size_t channel, std::int64_t plane, std::int64_t top,
           std::int64_t rows);
  /// Adds pixels of a row, from the given column on, each with its weight times `row_weight`.
  void add_row(const PlacedTile& tile, std::size_t channel, std::size_t first_pixel,
               std::size_t first_sum, std::span<const float> weights, float row_weight);
  void add_rotated(const PlacedTile& tile, std::size_t channel, std::int64_t top,
                   std::int64_t rows);

  std::int64_t width_;
  PixelType type_;
  std::optional<double> nodata_;
  std::vector<float> sums_;     ///< of weight times value
  std::vector<float> weights_;  ///< of the same pixels
};

}  // namespace warpalign::detail
