// Writes where the tiles of a mosaic lie, for other programs.
#pragma once

#include "io/mosaic/tile_positions.hpp"

#include <warpalign/geometry.hpp>
#include <warpalign/registrar.hpp>

#include <filesystem>
#include <optional>
#include <span>
#include <string>

namespace warpalign::program {

/// The tiles' files, relative to their folder, with located positions in pixels.
struct LocatedFiles {
  std::filesystem::path folder;
  std::span<const TilePosition> tiles;
  std::span<const Homography> matrices;  ///< from the pixels of each tile to the mosaic's
  Shape shape;                           ///< of a tile
  int channels = 1;                      ///< of a tile
  PixelType type = PixelType::u8;        ///< of the tiles' files
  std::optional<double> pixel_size;      ///< in micrometres
};

/// Throws FileError unless the name ends in .csv, .txt, .companion.ome or .xml.
void check_position_file(const std::filesystem::path& path);

/// Throws FileError if a file of this name cannot say how such tiles are rotated, scaled or tilted:
/// BigStitcher has affine transforms, the other formats have positions.
void check_motion_for(const std::filesystem::path& path, Motion motion);

/// Throws FileError if a file of this name cannot describe such tiles: OME-XML describes TIFF
/// files.
void check_tiles_for(const std::filesystem::path& path, std::span<const TilePosition> tiles,
                     PixelType type);

/// The text for a file of this name: .csv has the columns file, x and y; .txt is Fiji's
/// TileConfiguration.txt, with files relative to it; .companion.ome and .ome.xml are OME-XML
/// (ome_companion.hpp); any other .xml is a project of BigStitcher, which
/// BigDataViewer's tools read, too.
[[nodiscard]] std::string position_text(const std::filesystem::path& path,
                                        const LocatedFiles& located);

}  // namespace warpalign::program
