// Which tiles overlap, and which windows of two tiles show the same scene.
#pragma once

#include <warpalign/mosaic.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace warpalign::detail {

/// The smallest side of an image that can be registered, in pixels.
inline constexpr std::int64_t min_registered_side = 16;

/// Two tiles, with the expected position of the second one minus that of the first one.
struct ExpectedPair {
  std::size_t reference = 0;
  std::size_t moving = 0;
  Point shift;
};

/// The pairs of tiles that overlap at these positions by at least a pixel along both axes, and by a
/// quarter of the smaller tile's side along one of them: corners alone are left out. Ordered by the
/// larger number, then by the smaller.
[[nodiscard]] std::vector<ExpectedPair> overlapping_pairs(std::span<const Shape> shapes,
                                                          std::span<const Point> positions);

/// Part of a tile.
struct TileWindow {
  std::int64_t x = 0;  ///< the first column
  std::int64_t y = 0;  ///< the first row
  std::int64_t width = 0;
  std::int64_t height = 0;
};

/// The windows of the reference tile and of the moving tile that contain their overlap if `shift`
/// is wrong by up to `margin` pixels along each axis.
[[nodiscard]] std::array<TileWindow, 2> overlap_windows(const Shape& reference, const Shape& moving,
                                                        const Point& shift, double margin);

}  // namespace warpalign::detail
