// Where the tiles of a mosaic lie, from the OME metadata of their files.
#pragma once

#include "io/mosaic/tile_positions.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace warpalign::program {

/// Tiles with positions in pixels.
struct OmeTiles {
  std::vector<TilePosition> tiles;
  std::optional<double> pixel_size;  ///< in micrometres; that of the first tile that says it
};

/// Reads the positions of all images in OME-TIFF files: those of the first plane of each image, or
/// the stage label. Positions without a unit, and those in a "reference frame", count as
/// micrometres, as most microscopes write them. `names` are relative to the folder; an image behind
/// the first page of its file is named as in "scan.ome.tif[2]". `pixel_size` in micrometres
/// replaces that of the metadata. Throws FileError, naming the file, if metadata, positions or the
/// size of a pixel are missing.
[[nodiscard]] OmeTiles read_ome_positions(const std::filesystem::path& folder,
                                          const std::vector<std::string>& names,
                                          const std::optional<double>& pixel_size);

/// Reads the positions of all images of a set of files from its description, a companion file of
/// OME-TIFF. Files have the names that it has for them; otherwise as read_ome_positions(). Throws
/// FileError.
[[nodiscard]] OmeTiles read_ome_set(const std::filesystem::path& path,
                                    const std::optional<double>& pixel_size);

/// The number of pages of a TIFF file, without reduced images. Throws FileError.
[[nodiscard]] std::size_t count_pages(const std::filesystem::path& path);

}  // namespace warpalign::program
