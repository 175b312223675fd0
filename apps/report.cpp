// The registration's report as JSON and as text.
#include "report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace warpalign::program {
namespace {

using Json = nlohmann::ordered_json;

const char* status(const RegistrationResult& result) {
  return result.reliable ? "ok" : "unreliable";
}

Json timings_json(const std::vector<StageTiming>& timings) {
  Json object = Json::object();
  for (const StageTiming& timing : timings) object[timing.stage] = timing.milliseconds;
  return object;
}

/// What every way of lying on one another has; the fast pipeline's overlap is null.
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

std::string line(const std::string& name, const std::string& text) {
  return fmt::format("  {:<11}{}\n", name, text);
}

std::string matrix_lines(const Affine& m) {
  return line("matrix", fmt::format("[{:12.6f} {:12.6f} {:12.4f} ]  reference pixel (x, y, 1)", m.a,
                                    m.b, m.c)) +
         line("", fmt::format("[{:12.6f} {:12.6f} {:12.4f} ]  -> moving pixel", m.d, m.e, m.f));
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
    text += line(i == 0 ? "or else" : "", fmt::format("{}; confidence {:.2f}, correlation {:.4f}",
                                                      similarity_text(others[i].similarity),
                                                      others[i].confidence, others[i].correlation));
  }
  return text;
}

std::string timing_lines(const std::vector<StageTiming>& timings) {
  if (timings.empty()) return {};
  constexpr double bar_columns = 40;
  double total = 0;
  double longest = 0;
  std::size_t name_columns = std::string("in all").size();
  for (const StageTiming& timing : timings) {
    total += timing.milliseconds;
    longest = std::max(longest, timing.milliseconds);
    name_columns = std::max(name_columns, timing.stage.size());
  }
  std::string text = "\n  device time of each stage\n";
  for (const StageTiming& timing : timings) {
    const double bar = longest > 0 ? bar_columns * timing.milliseconds / longest : 0;
    const double share = total > 0 ? 100 * timing.milliseconds / total : 0;
    text += fmt::format("  {:<{}} {:10.3f} ms {:5.1f} %  {}\n", timing.stage, name_columns,
                        timing.milliseconds, share,
                        std::string(static_cast<std::size_t>(bar + 0.5), '#'));
  }
  text += fmt::format("  {:<{}} {:10.3f} ms\n", "in all", name_columns, total);
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
  return object.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string human_text(const RegistrationReport& report) {
  const RegistrationResult& result = report.result;
  std::string text =
      line("reference", fmt::format("{} ({})", report.reference, report.reference_description)) +
      line("moving", fmt::format("{} ({})", report.moving, report.moving_description)) +
      line("found", similarity_text(result.similarity)) +
      line("confidence", fmt::format("{:.2f}, {}", result.confidence, verdict(result))) +
      line("fit", fit_text(result, report.fast)) + runner_up_lines(result.runners_up) +
      matrix_lines(result.matrix) +
      line("device", fmt::format("{} ({}, {})", report.device.name, report.device.id,
                                 report.device.platform));
  for (const WrittenFile& file : report.files) {
    text += line(file.what, fmt::format("{} ({})", file.path, file.description));
  }
  text +=
      line("time", fmt::format("{:.2f} s, files and start of the device included", report.seconds));
  return text + timing_lines(result.timings);
}

}  // namespace warpalign::program
