// The options of `mosaic`, and the tiles that they name.
#pragma once

#include "io/mosaic/tile_positions.hpp"
#include "options/common_options.hpp"

#include <warpalign/mosaic.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace warpalign::program {

/// The options as typed, unchecked.
struct MosaicChoices {
  std::string folder;  ///< or a file of which each page is a tile
  std::optional<std::string> positions;
  std::optional<std::string> grid;
  std::optional<double> overlap;
  std::string order = "row";
  std::string corner = "top-left";
  bool exchange = false;
  std::string reverse;
  std::string unit = "px";
  std::optional<double> pixel_size;
  std::optional<double> max_error;
  std::optional<double> min_confidence;
  std::string motion = "translation";
  bool no_distortion = false;
  std::optional<double> nodata;
  std::optional<std::string> flat_field;  ///< a file, or "auto"
  std::optional<std::string> dark;
  std::optional<std::string> output;
  std::optional<std::string> json;
  std::optional<std::string> located;
  std::optional<std::string> page;
  bool skip_bad_tiles = false;
  bool resume = false;
  DeviceOptions device;
};

void add_mosaic_options(CLI::App& command, MosaicChoices& choices);

/// Whether the positions are to be searched for: --positions none.
[[nodiscard]] bool positions_unknown(const MosaicChoices& choices);

/// The motion of the tiles by its name. Throws UsageError for another word.
[[nodiscard]] Motion motion_of(const MosaicChoices& choices);

/// Whether the flat field is to be estimated: --flat-field auto.
[[nodiscard]] bool estimates_flat_field(const MosaicChoices& choices);

/// Checks the options that need no file, and the names of the outputs. Throws UsageError.
void check_mosaic_choices(const MosaicChoices& choices);

/// The tiles' files, with positions in pixels.
struct NominalTiles {
  std::filesystem::path folder;      ///< of the files
  std::vector<TilePosition> tiles;   ///< in the order in which they were taken; in units
  Point unit{1, 1};                  ///< pixels in a unit of the positions
  bool in_tile_sides = false;        ///< the unit is the tile's sides
  std::optional<double> pixel_size;  ///< in micrometres
  std::string source;                ///< where the positions come from, for messages
};

/// The tiles that the options name. Throws FileError and UsageError.
[[nodiscard]] NominalTiles tiles_of(const MosaicChoices& choices);

/// The positions of these tiles in pixels, with the axes as the options say.
[[nodiscard]] std::vector<Point> positions_in_pixels(const MosaicChoices& choices,
                                                     const NominalTiles& nominal,
                                                     const Shape& shape);

/// The library's options, without progress.
[[nodiscard]] MosaicOptions mosaic_options_of(const MosaicChoices& choices);

}  // namespace warpalign::program
