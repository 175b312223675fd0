// The report of a volume registration as text and JSON.
#pragma once

#include "reports/registration_report.hpp"

#include <warpalign/volume_registrar.hpp>

#include <optional>
#include <string>
#include <vector>

namespace warpalign::program {

/// What two NIfTI headers with positions say, compared with the result.
struct HeaderReport {
  std::string reference_axes, moving_axes;  ///< such as "RAS", as stored
  bool reordered = false;                   ///< whether the moving volume's axes were reordered
  /// From RAS millimetres of the reference to those of the moving volume.
  HomogeneousMatrix world_matrix;
  double difference_mm = 0;  ///< the largest, at the corners of the reference
  double voxel_mm = 1;       ///< the longest side of the reference's voxels
};

struct VolumeReport {
  std::string reference;  ///< the file's name and a description of its contents
  std::string moving;
  DeviceInfo device;
  VolumeRegistration result;  ///< its matrix is one of stored voxels
  std::optional<HeaderReport> headers;
  std::vector<std::string> notes;  ///< about doubtful headers
  std::vector<WrittenFile> files;
  double seconds = 0;  ///< total wall time
};

/// One JSON object; docs/reference/program-output.md describes it.
[[nodiscard]] std::string json_text(const VolumeReport& report);
/// A few aligned lines, with a bar chart if there are timings.
[[nodiscard]] std::string human_text(const VolumeReport& report);

}  // namespace warpalign::program
