// The report of a registration of volumes as JSON and as text.
#include "reports/volume_report.hpp"

#include "reports/report_lines.hpp"

#include <fmt/format.h>

namespace warpalign::program {

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
  return report_line("reference", report.reference) + report_line("moving", report.moving) +
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
