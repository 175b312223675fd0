// The common parts of registration reports.
#include "reports/report_lines.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace warpalign::program {

std::string report_line(const std::string& name, const std::string& text) {
  return fmt::format("  {:<11}{}\n", name, text);
}

std::string closing_lines(const DeviceInfo& device, const std::vector<WrittenFile>& files,
                          double seconds, const std::vector<StageTiming>& timings) {
  std::string text =
      report_line("device", fmt::format("{} ({}, {})", device.name, device.id, device.platform));
  for (const WrittenFile& file : files) {
    text += report_line(file.what, fmt::format("{} ({})", file.path, file.description));
  }
  text +=
      report_line("time", fmt::format("{:.2f} s, files and start of the device included", seconds));
  return text + timing_lines(timings);
}

std::string missing_line(const MissingPixels& missing, const char* samples) {
  if (missing.reference == 0 && missing.moving == 0) return {};
  return report_line("missing",
                     fmt::format("{} {} of the reference and {} of the moving one were ignored",
                                 missing.reference, samples, missing.moving));
}

Json missing_json(const MissingPixels& missing) {
  Json object = Json::object();
  object["reference"] = missing.reference;
  object["moving"] = missing.moving;
  return object;
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

Json timings_json(const std::vector<StageTiming>& timings) {
  Json object = Json::object();
  for (const StageTiming& timing : timings) object[timing.stage] = timing.milliseconds;
  return object;
}

}  // namespace warpalign::program
