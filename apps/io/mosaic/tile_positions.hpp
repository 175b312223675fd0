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

/// Reads a CSV file (RFC 4180) whose header names the columns file, x and y; other columns are
/// ignored. Throws FileError, naming the line, for missing columns, words that are no numbers, and
/// a file that is named twice.
[[nodiscard]] std::vector<TilePosition> read_tile_positions(const std::filesystem::path& path);

/// The order in which a microscope takes the tiles of a grid.
enum class GridOrder {
  row,          ///< row by row, each from the left
  column,       ///< column by column, each from the top
  snake_row,    ///< row by row, from the left and from the right in turn
  snake_column  ///< column by column, from the top and from the bottom in turn
};

/// The row and column of the tile with this number in a grid.
struct GridCell {
  std::int64_t row = 0;
  std::int64_t column = 0;
};
[[nodiscard]] GridCell grid_cell(std::int64_t tile, std::int64_t rows, std::int64_t columns,
                                 GridOrder order);

}  // namespace warpalign::program
