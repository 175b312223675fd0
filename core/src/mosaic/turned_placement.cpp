// The transforms of tiles from those between them: robust least squares.
#include "mosaic/turned_placement.hpp"

#include "mosaic/placement_fit.hpp"
#include "mosaic/turned_tiles.hpp"

namespace warpalign::detail {

TurnedPlacement place_turned_tiles(std::span<const MosaicTile> tiles,
                                   std::span<const TurnedLink> links, Motion motion,
                                   double max_error, bool estimates_stage) {
  const PlacementFit<TurnedTiles> fit =
      fit_placement(tiles, links, max_error, estimates_stage, TurnedTiles(tiles, motion));
  TurnedPlacement placement;
  placement.stage = fit.stage();
  placement.matrices = fit.motion().matrices();
  for (std::size_t i = 0; i < links.size(); ++i) placement.used.push_back(fit.uses(i));
  return placement;
}

}  // namespace warpalign::detail
