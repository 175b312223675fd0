// The report of a mosaic as one HTML page.
#pragma once

#include "io/mosaic/tile_files.hpp"
#include "reports/mosaic_report.hpp"

#include <string>

namespace warpalign::program {

/// A page with the mosaic's overview, the pairs of tiles coloured by confidence, their residuals as
/// arrows, the pairs that were left out with overlays of both tiles, and the seams that fit worst.
/// Reads the tiles again. Throws FileError.
[[nodiscard]] std::string mosaic_page(const MosaicReport& report, TileFiles& files);

}  // namespace warpalign::program
