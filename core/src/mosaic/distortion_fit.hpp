// The distortion that all tiles have in common, from the patches of their overlaps.
#pragma once

#include "mosaic/pair_registration.hpp"
#include "mosaic/tile_cache.hpp"

#include <warpalign/mosaic.hpp>

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace warpalign::detail {

/// A pixel of a tile and the pixel of another tile that shows the same point.
struct OverlapMatch {
  std::size_t pair = 0;  ///< the index of the pair of tiles
  Point reference;       ///< in pixels of the reference tile
  Point moving;          ///< in pixels of the moving tile
};

/// For each term of a distortion along x, then of that along y, whether it may differ from 0.
using DistortionTerms = std::array<bool, 2 * TileDistortion::terms>;

/// The terms that overlaps of pairs with these shifts can determine. Where two tiles overlap, u^3
/// along x differs from a wider step by its curvature alone, which a thin overlap hardly shows; so
/// does v^3 along y. A wrong value would move each tile by pixels.
[[nodiscard]] DistortionTerms determined_terms(std::span<const Point> shifts, const Shape& tile);

/// A distortion, with the shift of each pair of tiles without it.
struct FittedDistortion {
  TileDistortion distortion;
  std::vector<Point> shifts;
};

/// Fits the `free` terms of the distortion and a shift for each pair to the matches of tiles of
/// this shape, by robust least squares. Terms that the matches do not show to differ from 0 are 0.
/// Returns nothing if the distortion does not explain the matches clearly better than shifts alone.
[[nodiscard]] std::optional<FittedDistortion> fit_distortion(std::span<const OverlapMatch> matches,
                                                             std::size_t pairs, const Shape& tile,
                                                             DistortionTerms free);

/// Matches patches of the used pairs, fits the distortion, and refines it by the gray levels.
/// Returns nothing for tiles of several shapes, and where fit_distortion() does. Throws as
/// align_batch() does, and what the tiles' source throws.
[[nodiscard]] std::optional<TileDistortion> estimate_distortion(std::span<const Device> devices,
                                                                std::span<const MosaicTile> tiles,
                                                                TileCache& cache,
                                                                std::span<const MeasuredPair> pairs,
                                                                const MosaicOptions& options);

}  // namespace warpalign::detail
