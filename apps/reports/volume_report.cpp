// The report of a registration of volumes as JSON and as text.
#include "reports/volume_report.hpp"

#include "io/terminal.hpp"
#include "reports/report_lines.hpp"

#include <fmt/format.h>

namespace warpalign::program {

namespace {

/// What matters, in one line.
std::string headline(const VolumeRegistration& result) {
  const Point3& t = result.translation;
  const std::string motion =
      fmt::format("translation ({:.2f}, {:.2f}, {:.2f}) voxels", t.x, t.y, t.z);
  if (result.reliable) {
    return fmt::format("{}: {}; confidence {:.2f}\n", coloured("The volumes fit", Colour::green),
                       motion, result.confidence);
  }
  return fmt::format("{}: confidence {:.2f}, 0.5 is needed; at best {}\n",
                     coloured("No reliable fit", Colour::red), result.confidence, motion);
}

}  // namespace

std::string json_text(const VolumeReport& report) {
  const VolumeRegistration& result = report.result;
  const Point3& t = result.translation;
  Json object;
  object["status"] = result.reliable ? "ok" : "unreliable";
  object["translation"] = {t.x, t.y, t.z};
  object["confidence"] = result.confidence;
  object["overlap"] = result.overlap;
  object["correlation"] = result.correlation;
  object["significance"] = result.significance;
  object["refined"] = result.refined;
  object["device"] = report.device.name;
  object["backend"] = report.device.backend;
  object["timings_ms"] = timings_json(result.timings);
  return object.text();
}

std::string human_text(const VolumeReport& report) {
  const VolumeRegistration& result = report.result;
  const Point3& t = result.translation;
  const char* verdict =
      result.reliable ? "reliable"
                      : "NOT RELIABLE: 0.5 is needed; the volumes may not show the same thing, or "
                        "overlap too little";
  return headline(result) + "\n" + report_line("reference", report.reference) +
         report_line("moving", report.moving) +
         report_line("found",
                     fmt::format("translation ({:.4f}, {:.4f}, {:.4f}) voxels along x, y, z", t.x,
                                 t.y, t.z)) +
         report_line("confidence", fmt::format("{:.2f}, {}", result.confidence, verdict)) +
         report_line("fit",
                     fmt::format("correlation {:.4f}, significance {:.1f}, {:.1f} % of the "
                                 "reference in common, {}",
                                 result.correlation, result.significance, 100 * result.overlap,
                                 result.refined ? "refined" : "not refined")) +
         closing_lines(report.device, report.files, report.seconds, result.timings);
}

}  // namespace warpalign::program
