// The options of `mosaic`, and the tiles that they name.
#pragma once

#include "io/mosaic/tile_positions.hpp"
#include "options/common_options.hpp"

#include <warpalign/mosaic.hpp>

#include <optional>
#include <string>
#include <vector>

namespace warpalign::program {

/// The options as typed, unchecked.
struct MosaicChoices {
  std::string folder;
  std::optional<std::string> positions;
  std::optional<std::string> grid;
  std::optional<double> overlap;
  std::string order = "row";
  std::string unit = "px";
  std::optional<double> pixel_size;
  std::optional<double> max_error;
  std::optional<double> min_confidence;
  std::optional<std::string> output;
  std::optional<std::string> json;
  DeviceOptions device;
};

void add_mosaic_options(CLI::App& command, MosaicChoices& choices);

/// Checks the options that need no file, and the names of the outputs. Throws UsageError.
void check_mosaic_choices(const MosaicChoices& choices);

/// The files of the tiles in the order in which they were taken. Throws FileError and UsageError.
[[nodiscard]] std::vector<TilePosition> tiles_of(const MosaicChoices& choices);

/// The positions of these tiles in pixels; those of a grid follow from the tiles' size.
[[nodiscard]] std::vector<Point> positions_in_pixels(const MosaicChoices& choices,
                                                     const std::vector<TilePosition>& tiles,
                                                     const Shape& shape);

/// The library's options, without progress.
[[nodiscard]] MosaicOptions mosaic_options_of(const MosaicChoices& choices);

}  // namespace warpalign::program
