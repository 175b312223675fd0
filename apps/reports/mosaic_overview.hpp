// Small pictures of a mosaic and its seams.
#pragma once

#include "io/mosaic/tile_files.hpp"
#include "reports/mosaic_report.hpp"

#include <optional>

namespace warpalign::program {

/// The whole mosaic, shrunk by averaging, in 8-bit gray. Tiles cover one another in their order.
struct MosaicOverview {
  LoadedImage picture;
  double shrunk_by = 1;  ///< pixels of the mosaic for each pixel of the picture
};

[[nodiscard]] MosaicOverview draw_overview(const MosaicReport& report, TileFiles& files);

/// The overlap of a pair at the located positions, as draw_overlay() shows two images; the middle
/// of long overlaps. Nothing if the tiles do not overlap there.
[[nodiscard]] std::optional<LoadedImage> draw_seam(const MosaicReport& report, TileFiles& files,
                                                   const MosaicPair& pair);

}  // namespace warpalign::program
