// The positions of tiles from the shifts between them: robust least squares.
#pragma once

#include "mosaic/mosaic_types.hpp"
#include "mosaic/shift_covariance.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace warpalign::detail {

/// The measured shift between two tiles. P: Point or Point3.
template <class P>
struct ShiftLinkOf {
  std::size_t reference = 0;
  std::size_t moving = 0;
  P shift;  ///< the moving tile's position minus the reference tile's
  CovarianceOf<axes_of<P>> covariance;
  double confidence = 1;
};

/// Where the tiles are.
template <class P>
struct PlacementOf {
  std::vector<P> positions;
  std::vector<bool> used;   ///< for each link; false: the others contradict it
  std::vector<P> expected;  ///< of each tile: what the stage model says
  typename MosaicTypes<P>::Stage stage;
};

using ShiftLink = ShiftLinkOf<Point>;
using Placement = PlacementOf<Point>;

/// Minimises the squared residuals of the links, each divided by its variance, and those of the
/// stage model, divided by its deviation. Links get Geman and McClure's weights, whose scale
/// decreases from the deviation of the stage to that of consistent links. A link that alone holds
/// two sets of tiles together is also compared with the stage model. `max_error` in pixels is the
/// largest usual error of the stage. Without `estimates_stage`, the stage model is that of a
/// perfect stage.
[[nodiscard]] Placement place_tiles(std::span<const MosaicTile> tiles,
                                    std::span<const ShiftLink> links, double max_error,
                                    bool estimates_stage = true);
/// The same for volumes.
[[nodiscard]] PlacementOf<Point3> place_tiles(std::span<const VolumeMosaicTile> tiles,
                                              std::span<const ShiftLinkOf<Point3>> links,
                                              double max_error, bool estimates_stage = true);

}  // namespace warpalign::detail
