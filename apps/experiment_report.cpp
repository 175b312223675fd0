// What the experiments' reports have in common.
#include "experiment_report.hpp"

#include <fmt/format.h>

namespace warpalign::program {

nlohmann::ordered_json device_json(const DeviceInfo& device) {
  return {{"id", device.id},
          {"name", device.name},
          {"platform", device.platform},
          {"driver", device.driver},
          {"sampling", device.sampling == Sampling::texture ? "texture" : "buffer"},
          {"sampling_reason", device.sampling_reason}};
}

void add_report(OutputFolder& folder, const std::string& name, nlohmann::ordered_json report) {
  report["files"] = folder.names();
  folder.add_text(
      name, report.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
}

std::string files_line(const OutputFolder& folder) {
  return fmt::format("\n  {} files in {}\n", folder.names().size(), folder.path().string());
}

}  // namespace warpalign::program
