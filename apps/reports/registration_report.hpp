// The report of a registration, for people and for programs.
#pragma once

#include "reports/report_lines.hpp"

#include <warpalign/device.hpp>
#include <warpalign/registrar.hpp>

#include <string>
#include <vector>

namespace warpalign::program {

struct RegistrationReport {
  std::string reference;  ///< the files' names as they were given
  std::string moving;
  std::string reference_description;
  std::string moving_description;
  DeviceInfo device;
  RegistrationOptions settings;  ///< that were asked for
  RegistrationResult result;
  std::vector<WrittenFile> files;
  double seconds = 0;  ///< wall time of everything
};

/// One JSON object, as apps/README.md lists it.
[[nodiscard]] std::string json_text(const RegistrationReport& report);
/// A few aligned lines, with a bar chart where there are timings.
[[nodiscard]] std::string human_text(const RegistrationReport& report);

}  // namespace warpalign::program
