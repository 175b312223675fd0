// The report of a volume registration as text and JSON.
#include "reports/volume_report.hpp"

#include "io/terminal.hpp"
#include "reports/deformation_report.hpp"
#include "reports/option_names.hpp"
#include "reports/report_lines.hpp"

#include <fmt/format.h>

namespace warpalign::program {

namespace {

/// Describes the motion, as in "rotation 12.30 degrees about (0.000, 0.600, 0.800), scale 1.0200,
/// ", without the parts that are fixed.
std::string turning(const VolumeRegistration& result) {
  if (result.motion == Motion::translation) return {};
  const Point3& axis = result.rotation_axis;
  std::string text = fmt::format("rotation {:.3f} degrees about ({:.3f}, {:.3f}, {:.3f}), ",
                                 result.rotation_deg, axis.x, axis.y, axis.z);
  if (result.motion != Motion::rigid) text += fmt::format("scale {:.4f}, ", result.scale);
  return text;
}

std::string matrix_lines(const VolumeRegistration& result) {
  if (result.motion == Motion::translation) return {};
  std::string lines;
  const auto& m = result.matrix.m;
  for (std::size_t row = 0; row < 3; ++row) {
    lines += report_line(row == 0 ? "matrix" : "",
                         fmt::format("[{:10.6f} {:10.6f} {:10.6f} {:12.4f} ]{}", m[4 * row],
                                     m[4 * row + 1], m[4 * row + 2], m[4 * row + 3],
                                     row == 0   ? "  reference voxel (x, y, z, 1)"
                                     : row == 1 ? "  -> moving voxel"
                                                : ""));
  }
  return lines;
}

/// The summary on the first line.
std::string headline(const VolumeRegistration& result) {
  const Point3& t = result.translation;
  const std::string motion = turning(result) + fmt::format(
                                                   "translation ({:.2f}, {:.2f}, {:.2f}) "
                                                   "voxels",
                                                   t.x, t.y, t.z);
  if (result.reliable) {
    return fmt::format("{}: {}; confidence {:.2f}\n", coloured("The volumes fit", Colour::green),
                       motion, result.confidence);
  }
  return fmt::format("{}: confidence {:.2f}, 0.5 is needed; at best {}\n",
                     coloured("No reliable fit", Colour::red), result.confidence, motion);
}

std::string header_lines(const VolumeReport& report) {
  std::string lines;
  if (const auto& headers = report.headers) {
    if (headers->reordered) {
      lines += report_line("axes", fmt::format("{} as stored, brought to the reference's {}",
                                               headers->moving_axes, headers->reference_axes));
    }
    const bool agree = headers->difference_mm <= headers->voxel_mm;
    lines += report_line(
        "headers",
        agree
            ? fmt::format("agree with the result: {:.3g} mm apart at most", headers->difference_mm)
            : fmt::format("DISAGREE with the result: they place the volumes up to {:.3g} mm "
                          "elsewhere",
                          headers->difference_mm));
  }
  for (const std::string& note : report.notes) lines += report_line("note", note);
  return lines;
}

Json rows_json(const HomogeneousMatrix& matrix) {
  const auto& m = matrix.m;
  return {{m[0], m[1], m[2], m[3]}, {m[4], m[5], m[6], m[7]}, {m[8], m[9], m[10], m[11]}};
}

}  // namespace

std::string json_text(const VolumeReport& report) {
  const VolumeRegistration& result = report.result;
  const Point3& t = result.translation;
  Json object;
  object["status"] = result.reliable ? "ok" : "unreliable";
  object["motion"] = result.deformation ? "deformable" : name_of(result.motion);
  object["deformation"] = deformation_json(result.deformation);
  object["modality"] = name_of(result.modality);
  object["matrix"] = rows_json(result.matrix);
  object["world_matrix"] = nullptr;
  object["header_difference_mm"] = nullptr;
  object["axes"] = nullptr;
  if (const auto& headers = report.headers) {
    object["world_matrix"] = rows_json(headers->world_matrix);
    object["header_difference_mm"] = headers->difference_mm;
    object["axes"] = {headers->reference_axes, headers->moving_axes};
  }
  object["notes"] = Json(report.notes);
  object["rotation_deg"] = result.rotation_deg;
  object["rotation_axis"] = {result.rotation_axis.x, result.rotation_axis.y,
                             result.rotation_axis.z};
  object["scale"] = result.scale;
  object["translation"] = {t.x, t.y, t.z};
  object["confidence"] = result.confidence;
  object["overlap"] = result.overlap;
  object["correlation"] = result.correlation;
  object["significance"] = result.significance;
  object["refined"] = result.refined;
  object["missing"] = missing_json(result.missing);
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
                     turning(result) +
                         fmt::format("translation ({:.4f}, {:.4f}, {:.4f}) voxels along x, y, z",
                                     t.x, t.y, t.z)) +
         matrix_lines(result) + missing_line(result.missing, "voxels") + header_lines(report) +
         deformation_line(result.deformation) +
         report_line("confidence", fmt::format("{:.2f}, {}", result.confidence, verdict)) +
         report_line(
             "fit",
             fmt::format("correlation {:.4f}{}, significance {:.1f}, {:.1f} % of the "
                         "reference in common, {}",
                         result.correlation, result.modality == Modality::other ? " of edges" : "",
                         result.significance, 100 * result.overlap,
                         result.refined ? "refined" : "not refined")) +
         closing_lines(report.device, report.files, report.seconds, result.timings);
}

}  // namespace warpalign::program
