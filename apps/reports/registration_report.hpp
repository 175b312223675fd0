// The report of a registration as text and JSON.
#pragma once

#include "reports/report_lines.hpp"

#include <warpalign/device.hpp>
#include <warpalign/registrar.hpp>

#include <string>
#include <vector>

namespace warpalign::program {

struct RegistrationReport {
  std::string reference;  ///< the files' names as typed
  std::string moving;
  std::string reference_description;
  std::string moving_description;
  int reference_orientation = 1;  ///< see LoadedImage::orientation
  int moving_orientation = 1;
  DeviceInfo device;
  RegistrationOptions settings;  ///< the options that the user chose
  RegistrationResult result;
  std::vector<WrittenFile> files;
  double seconds = 0;  ///< total wall time
};

/// One JSON object; docs/reference/program-output.md describes it.
[[nodiscard]] std::string json_text(const RegistrationReport& report);
/// A few aligned lines, with a bar chart if there are timings.
[[nodiscard]] std::string human_text(const RegistrationReport& report);

}  // namespace warpalign::program
