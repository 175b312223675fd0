// The report of a local registration, for people and for programs.
#pragma once

#include "io/image_file.hpp"
#include "reports/frame_motion.hpp"
#include "reports/report_lines.hpp"

#include <warpalign/device.hpp>

#include <string>
#include <vector>

namespace warpalign::program {

struct LocalReport {
  std::string reference;  ///< the files' names as they were given
  std::string moving;
  std::string reference_description;
  std::string moving_description;
  DeviceInfo device;
  FrameMotion motion;
  std::vector<WrittenFile> files;
  std::vector<std::string> unwritten;  ///< outputs that were asked for, where there is no field
  double seconds = 0;                  ///< wall time of everything
};

/// One JSON object, as apps/README.md lists it.
[[nodiscard]] std::string json_text(const LocalReport& report);
/// A few aligned lines.
[[nodiscard]] std::string human_text(const LocalReport& report);
/// One HTML page with the field over the reference, and the overlay. The motion has a field.
[[nodiscard]] std::string html_text(const LocalReport& report, const LoadedImage& reference,
                                    const LoadedImage& overlay);

}  // namespace warpalign::program
