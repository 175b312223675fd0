// The report of a mosaic as text and JSON.
#pragma once

#include "io/mosaic/tile_files.hpp"

#include <warpalign/device.hpp>
#include <warpalign/mosaic.hpp>

#include <optional>
#include <string>
#include <vector>

namespace warpalign::program {

/// The illumination by which the tiles were divided.
struct FlatFieldReport {
  std::string source;  ///< a file as typed, or "auto"
  std::optional<std::string> dark;
  float least = 1;
  float largest = 1;
};

struct MosaicReport {
  std::string folder;                ///< as typed
  std::vector<std::string> files;    ///< of the tiles, relative to the folder
  std::string description;           ///< of one tile: size and type
  Shape tile;                        ///< of one tile
  std::optional<double> pixel_size;  ///< in micrometres
  std::vector<SkippedTile> skipped;
  std::optional<FlatFieldReport> flat_field;
  std::vector<Point> nominal;   ///< the positions given, in pixels
  bool positions_known = true;  ///< false: `nominal` and the stage model have no meaning
  Motion motion = Motion::translation;
  Mosaic mosaic;
  std::size_t resumed_pairs = 0;       ///< that an earlier run registered
  std::optional<std::string> output;   ///< the picture's file
  std::optional<std::string> json;     ///< this report's file
  std::optional<std::string> located;  ///< the file of the located positions
  std::optional<std::string> page;     ///< the HTML page's file
  DeviceInfo device;
  double seconds = 0;  ///< total wall time
};

/// One JSON object; docs/reference/program-output.md describes it.
[[nodiscard]] std::string json_text(const MosaicReport& report);
/// Aligned lines, with the pairs that are left out.
[[nodiscard]] std::string human_text(const MosaicReport& report);

}  // namespace warpalign::program
