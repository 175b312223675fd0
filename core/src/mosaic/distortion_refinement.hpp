// Refines the distortion of tiles by the gray levels of their overlaps.
#pragma once

#include "mosaic/distortion_fit.hpp"
#include "mosaic/tile_cache.hpp"

#include <warpalign/mosaic.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace warpalign::detail {

/// A pair of tiles of one shape: pixel a of the reference tile and pixel b of the moving tile show
/// the same point if a + D(a) = shift + b + D(b), where D is the distortion.
struct ShiftedPair {
  std::size_t reference = 0;
  std::size_t moving = 0;
  Point shift;
};

/// Minimises the squared differences of gray levels over all overlaps, by Gauss-Newton steps for
/// the `free` terms of the distortion, and for the shift, gain and offset of each pair. Terms that
/// the overlaps do not show to differ from 0 are 0; a result without any is zero. Throws what the
/// tiles' source throws.
[[nodiscard]] TileDistortion refine_distortion(TileCache& cache, std::span<const ShiftedPair> pairs,
                                               const Shape& tile, const TileDistortion& start,
                                               const DistortionTerms& free);

}  // namespace warpalign::detail
