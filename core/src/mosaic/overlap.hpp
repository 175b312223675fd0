// Which tiles overlap, and which windows of two tiles show the same scene.
#pragma once

#include "mosaic/mosaic_types.hpp"

#include <warpalign/mosaic.hpp>
#include <warpalign/tiles.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace warpalign::detail {

/// The smallest side of an image that can be registered, in pixels.
inline constexpr std::int64_t min_registered_side = 16;
/// The same for a volume, in voxels.
inline constexpr std::int64_t min_registered_volume_side = 8;

/// Two tiles, with the expected position of the second one minus that of the first one. P: Point or
/// Point3.
template <class P>
struct ExpectedPairOf {
  std::size_t reference = 0;
  std::size_t moving = 0;
  P shift;
};

using ExpectedPair = ExpectedPairOf<Point>;

/// The pairs of tiles that overlap at these positions by at least a pixel along both axes, and by a
/// quarter of the smaller tile's side along one of them: corners alone are left out. Ordered by the
/// larger number, then by the smaller.
[[nodiscard]] std::vector<ExpectedPair> overlapping_pairs(std::span<const Shape> shapes,
                                                          std::span<const Point> positions);
/// The same for volumes, which overlap by a voxel along all axes, and by half of the smaller
/// volume's side along two of them: corners and edges alone are left out.
[[nodiscard]] std::vector<ExpectedPairOf<Point3>> overlapping_pairs(
    std::span<const Shape> shapes, std::span<const Point3> positions);

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
/// The same for volumes.
[[nodiscard]] std::array<Region, 2> overlap_regions(const Shape& reference, const Shape& moving,
                                                    const Point3& shift, double margin);

}  // namespace warpalign::detail
