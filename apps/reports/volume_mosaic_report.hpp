// The report of a mosaic of volumes as text and JSON.
#pragma once

#include <warpalign/device.hpp>
#include <warpalign/volume_mosaic.hpp>

#include <optional>
#include <string>
#include <vector>

namespace warpalign::program {

struct VolumeMosaicReport {
  std::string folder;              ///< as typed
  std::vector<std::string> files;  ///< of the tiles, relative to the folder
  Shape tile;                      ///< of one tile
  PixelType type = PixelType::u8;  ///< of the mosaic
  std::vector<Point3> nominal;     ///< the positions given, in voxels
  VolumeMosaic mosaic;
  std::optional<std::string> output;  ///< the volume's file
  std::optional<std::string> json;    ///< this report's file
  DeviceInfo device;
  double seconds = 0;  ///< total wall time
};

/// One JSON object; docs/reference/program-output.md describes it.
[[nodiscard]] std::string json_text(const VolumeMosaicReport& report);
/// Aligned lines, with the pairs that are left out.
[[nodiscard]] std::string human_text(const VolumeMosaicReport& report);

}  // namespace warpalign::program
