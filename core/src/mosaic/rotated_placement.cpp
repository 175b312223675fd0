// The transforms of tiles from those between them: robust least squares.
#include "mosaic/rotated_placement.hpp"

#include "mosaic/placement_fit.hpp"
#include "mosaic/rotated_tiles.hpp"

namespace warpalign::detail {

RotatedPlacement place_rotated_tiles(std::span<const MosaicTile> tiles,
                                     std::span<const RotatedLink> links, Motion motion,
                                     double max_error, bool estimates_stage) {
  const PlacementFit<RotatedTiles> fit =
      fit_placement(tiles, links, max_error, estimates_stage, RotatedTiles(tiles, motion));
  RotatedPlacement placement;
  placement.stage = fit.stage();
  placement.matrices = fit.motion().matrices();
  for (std::size_t i = 0; i < links.size(); ++i) placement.used.push_back(fit.uses(i));
  return placement;
}

}  // namespace warpalign::detail
