// The report of a local registration as JSON, text and HTML.
#pragma once

#include "io/image_file.hpp"
#include "reports/frame_motion.hpp"
#include "reports/report_lines.hpp"

#include <warpalign/device.hpp>
#include <warpalign/registrar.hpp>

#include <string>
#include <vector>

namespace warpalign::program {

struct LocalReport {
  std::string reference;  ///< the files' names as typed
  std::string moving;
  std::string reference_description;
  std::string moving_description;
  int reference_orientation = 1;  ///< see LoadedImage::orientation
  int moving_orientation = 1;
  MissingPixels missing;  ///< the pixels that were ignored
  DeviceInfo device;
  FrameMotion motion;
  std::vector<WrittenFile> files;
  std::vector<std::string> unwritten;  ///< requested outputs that were not written without a field
  double seconds = 0;                  ///< total wall time
};

/// One JSON object; docs/reference/program-output.md describes it.
[[nodiscard]] std::string json_text(const LocalReport& report);
/// A few aligned lines.
[[nodiscard]] std::string human_text(const LocalReport& report);
/// One HTML page with the field over the reference, and the overlay. The motion must have a field.
[[nodiscard]] std::string html_text(const LocalReport& report, const LoadedImage& reference,
                                    const LoadedImage& overlay);

}  // namespace warpalign::program
