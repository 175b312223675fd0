// The report of a template as text and JSON.
#pragma once

#include "reports/report_lines.hpp"

#include <warpalign/template.hpp>

#include <optional>
#include <string>
#include <vector>

namespace warpalign::program {

struct TemplateReport {
  std::vector<std::string> images;  ///< the files' names
  std::vector<std::string> masks;   ///< those of the images' masks; empty without
  /// The file of each image's transform, if there is one.
  std::vector<std::optional<std::string>> transforms;
  bool are_volumes = false;
  Motion motion = Motion::deformable;
  Modality modality = Modality::same;
  Template found;  ///< without its pixels
  DeviceInfo device;
  std::vector<WrittenFile> files;
  double seconds = 0;  ///< total wall time
};

/// Whether all images are part of the template.
[[nodiscard]] bool uses_all(const Template& found);

/// One JSON object; docs/reference/program-output.md describes it.
[[nodiscard]] std::string json_text(const TemplateReport& report);
/// A few aligned lines.
[[nodiscard]] std::string human_text(const TemplateReport& report);

}  // namespace warpalign::program
