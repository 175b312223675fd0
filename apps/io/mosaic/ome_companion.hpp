// Writes where the tiles of a mosaic lie as OME-XML.
#pragma once

#include "io/mosaic/position_file.hpp"

#include <filesystem>
#include <string>

namespace warpalign::program {

/// Whether a name is that of a companion file of OME-TIFF: it ends in .companion.ome or .ome.xml.
[[nodiscard]] bool is_ome_companion(const std::filesystem::path& path);

/// A companion file, which describes a set of TIFF files: an image for each tile, its planes'
/// files relative to `path`, and the position of each plane, in micrometres if the size of a pixel
/// is known, else in pixels.
[[nodiscard]] std::string ome_companion(const std::filesystem::path& path,
                                        const LocatedFiles& located);

}  // namespace warpalign::program
