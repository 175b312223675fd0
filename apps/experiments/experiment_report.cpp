// The common parts of the experiments' reports.
#include "experiments/experiment_report.hpp"

#include <fmt/format.h>

namespace warpalign::program {

Json device_json(const DeviceInfo& device) {
  return Json::object({{"id", device.id},
                       {"name", device.name},
                       {"platform", device.platform},
                       {"driver", device.driver},
                       {"sampling", name_of(device.sampling)},
                       {"sampling_reason", device.sampling_reason}});
}

void add_report(OutputFolder& folder, const std::string& name, Json report) {
  report["files"] = folder.names();
  folder.add_text(name, report.text());
}

std::string files_line(const OutputFolder& folder) {
  return fmt::format("\n  {} files in {}\n", folder.names().size(), folder.path().string());
}

}  // namespace warpalign::program
