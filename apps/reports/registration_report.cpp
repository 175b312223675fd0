// The registration's report as JSON and as text.
#include "reports/registration_report.hpp"

#include "io/terminal.hpp"
#include "reports/report_lines.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace warpalign::program {
namespace {

const char* status(const RegistrationResult& result) {
  return result.reliable ? "ok" : "unreliable";
}

/// The members that the result and every runner-up have; the fast pipeline's overlap is null.
Json registered_json(const Registered& found, bool fast) {
  const Affine& m = found.matrix;
  Json object;
  object["matrix"] = {{m.a, m.b, m.c}, {m.d, m.e, m.f}};
  object["rotation_deg"] = found.similarity.rotation_deg;
  object["scale"] = found.similarity.scale;
  object["translation"] = {found.similarity.translation.x, found.similarity.translation.y};
  object["confidence"] = found.confidence;
  object["overlap"] = fast ? Json() : Json(found.overlap);
  object["correlation"] = found.correlation;
  object["significance"] = found.significance;
  object["refined"] = found.refined;
  return object;
}

std::string verdict(const RegistrationResult& result) {
  if (result.reliable) return "reliable";
  return "NOT RELIABLE: 0.5 is needed; the images may not show the same thing, or overlap too "
         "little";
}

/// What matters, in one line: whether the images fit, how the moving one lies, and how sure that
/// is.
std::string headline(const RegistrationResult& result) {
  const Similarity& found = result.similarity;
  const std::string motion =
      fmt::format("rotation {:.2f} degrees, scale {:.4f}, shift ({:.2f}, {:.2f}) pixels",
                  found.rotation_deg, found.scale, found.translation.x, found.translation.y);
  if (result.reliable) {
    return fmt::format("{}: {}; confidence {:.2f}\n", coloured("The images fit", Colour::green),
                       motion, result.confidence);
  }
  return fmt::format("{}: confidence {:.2f}, 0.5 is needed; at best {}\n",
                     coloured("No reliable fit", Colour::red), result.confidence, motion);
}

std::string matrix_lines(const Affine& m) {
  return report_line("matrix",
                     fmt::format("[{:12.6f} {:12.6f} {:12.4f} ]  reference pixel (x, y, 1)", m.a,
                                 m.b, m.c)) +
         report_line("",
                     fmt::format("[{:12.6f} {:12.6f} {:12.4f} ]  -> moving pixel", m.d, m.e, m.f));
}

std::string similarity_text(const Similarity& found) {
  return fmt::format("rotation {:.4f} degrees, scale {:.6f}, translation ({:.3f}, {:.3f}) pixels",
                     found.rotation_deg, found.scale, found.translation.x, found.translation.y);
}

std::string fit_text(const Registered& found, bool fast) {
  const std::string common =
      fast ? "" : fmt::format(", {:.1f} % of the reference in common", 100 * found.overlap);
  return fmt::format("correlation {:.4f}, significance {:.1f}{}, {}", found.correlation,
                     found.significance, common, found.refined ? "refined" : "not refined");
}

std::string runner_up_lines(const std::vector<Registered>& others) {
  std::string text;
  for (std::size_t i = 0; i < others.size(); ++i) {
    text += report_line(i == 0 ? "or else" : "",
                        fmt::format("{}; confidence {:.2f}, correlation {:.4f}",
                                    similarity_text(others[i].similarity), others[i].confidence,
                                    others[i].correlation));
  }
  return text;
}

}  // namespace

std::string json_text(const RegistrationReport& report) {
  const RegistrationResult& result = report.result;
  Json object;
  object["status"] = status(result);
  object.update(registered_json(result, report.fast));
  object["runners_up"] = Json::array();
  for (const Registered& other : result.runners_up) {
    object["runners_up"].push_back(registered_json(other, report.fast));
  }
  object["device"] = report.device.name;
  object["backend"] = report.device.backend;
  object["timings_ms"] = timings_json(result.timings);
  return object.text();
}

std::string human_text(const RegistrationReport& report) {
  const RegistrationResult& result = report.result;
  return headline(result) + "\n" +
         report_line("reference",
                     fmt::format("{} ({})", report.reference, report.reference_description)) +
         report_line("moving", fmt::format("{} ({})", report.moving, report.moving_description)) +
         report_line("found", similarity_text(result.similarity)) +
         report_line("confidence", fmt::format("{:.2f}, {}", result.confidence, verdict(result))) +
         report_line("fit", fit_text(result, report.fast)) + runner_up_lines(result.runners_up) +
         matrix_lines(result.matrix) +
         closing_lines(report.device, report.files, report.seconds, result.timings);
}

}  // namespace warpalign::program
