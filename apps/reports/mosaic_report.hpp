// The report of a mosaic as text and JSON.
#pragma once

#include <warpalign/device.hpp>
#include <warpalign/mosaic.hpp>

#include <optional>
#include <string>
#include <vector>

namespace warpalign::program {

struct MosaicReport {
  std::string folder;                ///< as typed
  std::vector<std::string> files;    ///< of the tiles, relative to the folder
  std::string description;           ///< of one tile: size and type
  Shape tile;                        ///< of one tile
  std::optional<double> pixel_size;  ///< in micrometres
  std::vector<Point> nominal;        ///< the positions given, in pixels
  Mosaic mosaic;
  std::optional<std::string> output;   ///< the picture's file
  std::optional<std::string> json;     ///< this report's file
  std::optional<std::string> located;  ///< the file of the located positions
  std::optional<std::string> page;     ///< the HTML page's file
  DeviceInfo device;
  double seconds = 0;  ///< total wall time
};

/// The tiles that no pair places: the stage model does.
[[nodiscard]] std::size_t tiles_by_stage(const Mosaic& mosaic);
/// The number of components with several tiles.
[[nodiscard]] std::size_t components_of_several(const Mosaic& mosaic);

/// One JSON object; docs/reference/program-output.md describes it.
[[nodiscard]] std::string json_text(const MosaicReport& report);
/// Aligned lines, with the pairs that are left out.
[[nodiscard]] std::string human_text(const MosaicReport& report);

}  // namespace warpalign::program
