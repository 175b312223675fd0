// The positions of tiles from the shifts between them: robust least squares.
#include "mosaic/placement.hpp"

#include "mosaic/placement_fit.hpp"
#include "mosaic/shifted_tiles.hpp"

namespace warpalign::detail {
namespace {

template <class P>
PlacementOf<P> place(std::span<const typename MosaicTypes<P>::Tile> tiles,
                     std::span<const ShiftLinkOf<P>> links, double max_error,
                     bool estimates_stage) {
  const PlacementFit<ShiftedTiles<P>> fit =
      fit_placement(tiles, links, max_error, estimates_stage, ShiftedTiles<P>(tiles));
  PlacementOf<P> placement;
  placement.stage = fit.stage();
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    placement.positions.push_back(sum_of(tiles[i].position, fit.motion().displacement(i)));
    placement.expected.push_back(fit.expected(i));
  }
  for (std::size_t i = 0; i < links.size(); ++i) placement.used.push_back(fit.uses(i));
  return placement;
}

}  // namespace

Placement place_tiles(std::span<const MosaicTile> tiles, std::span<const ShiftLink> links,
                      double max_error, bool estimates_stage) {
  return place<Point>(tiles, links, max_error, estimates_stage);
}

PlacementOf<Point3> place_tiles(std::span<const VolumeMosaicTile> tiles,
                                std::span<const ShiftLinkOf<Point3>> links, double max_error,
                                bool estimates_stage) {
  return place<Point3>(tiles, links, max_error, estimates_stage);
}

}  // namespace warpalign::detail
