// The report of a volume registration as text and JSON.
#pragma once

#include "reports/registration_report.hpp"

#include <warpalign/volume_registrar.hpp>

#include <string>
#include <vector>

namespace warpalign::program {

struct VolumeReport {
  std::string reference;  ///< the file's name and a description of its contents
  std::string moving;
  DeviceInfo device;
  VolumeRegistration result;
  std::vector<WrittenFile> files;
  double seconds = 0;  ///< total wall time
};

/// One JSON object; docs/reference/program-output.md describes it.
[[nodiscard]] std::string json_text(const VolumeReport& report);
/// A few aligned lines, with a bar chart if there are timings.
[[nodiscard]] std::string human_text(const VolumeReport& report);

}  // namespace warpalign::program
