// Writes where the tiles of a mosaic lie, for other programs.
#pragma once

#include "io/mosaic/tile_positions.hpp"

#include <warpalign/geometry.hpp>

#include <filesystem>
#include <optional>
#include <span>
#include <string>

namespace warpalign::program {

/// The tiles' files, relative to their folder, with located positions in pixels.
struct LocatedFiles {
  std::filesystem::path folder;
  std::span<const TilePosition> tiles;
  Shape shape;                       ///< of a tile
  int channels = 1;                  ///< of a tile
  std::optional<double> pixel_size;  ///< in micrometres
};

/// Throws FileError unless the name ends in .csv, .txt or .xml.
void check_position_file(const std::filesystem::path& path);

/// The text for a file of this name: .csv has the columns file, x and y; .txt is Fiji's
/// TileConfiguration.txt, with files relative to it; .xml is a project of BigStitcher, which
/// BigDataViewer's tools read, too.
[[nodiscard]] std::string position_text(const std::filesystem::path& path,
                                        const LocatedFiles& located);

}  // namespace warpalign::program
