// Where the tiles of a mosaic lie: from a CSV file, or from a grid.
#pragma once

#include <warpalign/geometry.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace warpalign::program {

/// A tile's file and nominal position.
struct TilePosition {
  std::string file;  ///< relative to the folder of the tiles
  Point position;    ///< of the first pixel, in the unit of the source
};

/// Reads a CSV file (RFC 4180) whose header names the columns file, x and y, in letters of any
/// case; other columns are ignored. Fields are separated by commas, or by semicolons or tabs if the
/// header has no comma. Throws FileError, naming the line, for missing columns, words that are no
/// numbers, and a file that is named twice.
[[nodiscard]] std::vector<TilePosition> read_tile_positions(const std::filesystem::path& path);

/// A volume tile's file and nominal position.
struct VolumeTilePosition {
  std::string file;  ///< relative to the folder of the tiles
  Point3 position;   ///< of the first voxel, in voxels
};

/// Whether the header of such a file names a column z, too. Throws FileError if the file cannot be
/// read.
[[nodiscard]] bool has_column_z(const std::filesystem::path& path);
/// The same for volumes, with the column z. Throws as read_tile_positions().
[[nodiscard]] std::vector<VolumeTilePosition> read_volume_positions(
    const std::filesystem::path& path);

/// The text of a file with positions, without a byte order mark. Throws FileError, naming the file.
[[nodiscard]] std::string read_position_text(const std::filesystem::path& path);

/// The order in which a microscope takes the tiles of a grid.
enum class GridOrder {
  row,          ///< row by row, all in the same direction
  column,       ///< column by column, all in the same direction
  snake_row,    ///< row by row, in alternating directions
  snake_column  ///< column by column, in alternating directions
};

/// The corner of the grid at which the first tile lies.
enum class GridCorner { top_left, top_right, bottom_left, bottom_right };

/// The row and column of the tile with this number in a grid.
struct GridCell {
  std::int64_t row = 0;
  std::int64_t column = 0;
};
[[nodiscard]] GridCell grid_cell(std::int64_t tile, std::int64_t rows, std::int64_t columns,
                                 GridOrder order, GridCorner corner);

}  // namespace warpalign::program
