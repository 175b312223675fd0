// From registered pairs to a mosaic of rotated tiles.
#pragma once

#include "mosaic/measured_pair.hpp"
#include "mosaic/rotated_placement.hpp"

#include <warpalign/mosaic.hpp>

#include <span>
#include <vector>

namespace warpalign::detail {

/// Places the tiles by the pairs in use, and marks those that the others contradict.
[[nodiscard]] RotatedPlacement place_rotated_pairs(std::span<const MosaicTile> tiles,
                                                   std::vector<MeasuredPair>& pairs,
                                                   double max_error, const MosaicOptions& options);

/// The shift of a pair, of the middle of its overlap, as the tiles' matrices have it.
[[nodiscard]] Point located_shift(std::span<const MosaicTile> tiles,
                                  const std::vector<Homography>& matrices, const MosaicPair& pair);
/// By how much the matrices contradict a pair in the middle of its overlap, in the mosaic.
[[nodiscard]] Point located_residual(std::span<const MosaicTile> tiles,
                                     const std::vector<Homography>& matrices,
                                     const MosaicPair& pair);

/// Sets the tiles' matrices and positions so that their corners begin at 0, and the shape that
/// covers all tiles.
void set_matrices(std::span<const MosaicTile> tiles, const std::vector<Homography>& matrices,
                  Mosaic& mosaic);

}  // namespace warpalign::detail
