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
  const Affine& m = result.matrix;
  Json object;
  object["status"] = status(result);
  object["matrix"] = {{m.a, m.b, m.c}, {m.d, m.e, m.f}};
  object["rotation_deg"] = result.similarity.rotation_deg;
  object["scale"] = result.similarity.scale;
  object["translation"] = {result.similarity.translation.x, result.similarity.translation.y};
  object["confidence"] = result.confidence;
  object["device"] = report.device.name;
  object["backend"] = report.device.backend;
  object["timings_ms"] = timings_json(result.timings);
  return object.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string human_text(const RegistrationReport& report) {
  const RegistrationResult& result = report.result;
  const Similarity& found = result.similarity;
  std::string text =
      line("reference", fmt::format("{} ({})", report.reference, report.reference_description)) +
      line("moving", fmt::format("{} ({})", report.moving, report.moving_description)) +
      line("found",
           fmt::format("rotation {:.3f} degrees, scale {:.5f}, translation ({:.2f}, "
                       "{:.2f}) pixels",
                       found.rotation_deg, found.scale, found.translation.x, found.translation.y)) +
      line("confidence", fmt::format("{:.2f}, {}", result.confidence, verdict(result))) +
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
