// Blends tiles that lie on the picture's grid.
#pragma once

#include <warpalign/geometry.hpp>
#include <warpalign/pixel.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace warpalign::detail {

/// The last pixel of the picture's grid that does not lie after a position, along one axis. A
/// position that lies less than a thousandth of a pixel before a pixel counts as lying on it.
[[nodiscard]] inline std::int64_t pixel_before(double position) {
  constexpr double tolerance = 1e-3;
  return static_cast<std::int64_t>(std::floor(position + tolerance));
}

/// A tile whose pixels are those of the picture's grid.
struct PlacedTile {
  std::int64_t x = 0;  ///< the picture's column of the first pixel
  std::int64_t y = 0;  ///< its row
  std::int64_t width = 0;
  std::int64_t height = 0;
  /// How far the tile's own first pixel lies after that, 0 to 1. Above 0, the first column (or row)
  /// lies outside of the tile.
  Point fraction;
  std::int64_t border = 0;                       ///< so many pixels at each edge show nothing
  std::vector<std::vector<std::byte>> channels;  ///< dense rows
  /// For each channel and pixel 0 if it is missing; empty if none of the channel is.
  std::vector<std::vector<std::uint8_t>> known;
};

/// Blends rows of the picture. Keeps its memory from strip to strip.
class BlendedStrip {
 public:
  /// `nodata`: the value of pixels for which no tile has one, else 0. Others avoid it.
  BlendedStrip(std::int64_t width, std::int64_t max_rows, PixelType type,
               std::optional<double> nodata);

  /// The rows [top, top + rows) of a channel. Integers are rounded to the nearest.
  [[nodiscard]] std::vector<std::byte> blend(std::span<const PlacedTile> tiles, std::size_t channel,
                                             std::int64_t top, std::int64_t rows);

 private:
  void add(const PlacedTile& tile, std::size_t channel, std::int64_t top, std::int64_t rows);

  std::int64_t width_;
  PixelType type_;
  std::optional<double> nodata_;
  std::vector<float> sums_;     ///< of weight times value
  std::vector<float> weights_;  ///< of the same pixels
};

}  // namespace warpalign::detail
