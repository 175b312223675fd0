// The report of a registration of volumes, for people and for programs.
#pragma once

#include "reports/registration_report.hpp"

#include <warpalign/volume_registrar.hpp>

#include <string>
#include <vector>

namespace warpalign::program {

struct VolumeReport {
  std::string reference;  ///< the files' names, with what they hold
  std::string moving;
  DeviceInfo device;
  VolumeRegistration result;
  std::vector<WrittenFile> files;
  double seconds = 0;  ///< wall time of everything
};

/// One JSON object, as apps/README.md lists it.
[[nodiscard]] std::string json_text(const VolumeReport& report);
/// A few aligned lines, with a bar chart where there are timings.
[[nodiscard]] std::string human_text(const VolumeReport& report);

}  // namespace warpalign::program
