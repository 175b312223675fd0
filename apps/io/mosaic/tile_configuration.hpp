// Fiji's TileConfiguration.txt: where the tiles of a mosaic lie.
#pragma once

#include "io/mosaic/tile_positions.hpp"

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace warpalign::program {

/// Reads lines such as "tile.tif; ; (12.5, 0)" in pixels; the second field may be the number of an
/// image in the file. Throws FileError, naming the line, for other lines, three dimensions, and a
/// tile that is named twice.
[[nodiscard]] std::vector<TilePosition> read_tile_configuration(const std::filesystem::path& path);

/// The text of such a file for these tiles.
[[nodiscard]] std::string tile_configuration(std::span<const TilePosition> tiles);

}  // namespace warpalign::program
