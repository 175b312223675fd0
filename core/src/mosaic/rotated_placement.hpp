// The transforms of tiles from those between them: robust least squares.
#pragma once

#include "mosaic/shift_covariance.hpp"

#include <warpalign/geometry.hpp>
#include <warpalign/mosaic.hpp>
#include <warpalign/registrar.hpp>

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace warpalign::detail {

/// The corners of the overlap of two tiles.
inline constexpr std::size_t overlap_corners = 4;

/// The measured transform between two tiles, by where it maps the corners of their overlap.
struct RotatedLink {
  std::size_t reference = 0;
  std::size_t moving = 0;
  /// Of the overlap's middle: its place in the reference tile minus that in the moving tile.
  Point shift;
  double confidence = 1;
  std::array<Point, overlap_corners> in_reference;
  std::array<Point, overlap_corners> in_moving;
  std::array<Covariance, overlap_corners> covariances;  ///< of the corners' places
};

/// Where the tiles are.
struct RotatedPlacement {
  std::vector<Homography> matrices;  ///< from the pixels of each tile to the mosaic's
  std::vector<bool> used;            ///< for each link; false: the others contradict it
  StageModel stage;
};

/// As place_tiles(), for tiles that are rotated, scaled or tilted, each one in its own way. A link
/// says where the corners of an overlap lie in both tiles; Gauss-Newton steps make the places of
/// each corner in the mosaic agree. A tile's turn is taken to be 0 on average: so a mosaic has the
/// mean orientation and scale of its tiles, and a tile without links is a shifted one.
///
/// `motion`: rigid, similarity or homography.
[[nodiscard]] RotatedPlacement place_rotated_tiles(std::span<const MosaicTile> tiles,
                                                   std::span<const RotatedLink> links,
                                                   Motion motion, double max_error,
                                                   bool estimates_stage = true);

}  // namespace warpalign::detail
