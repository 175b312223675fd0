// The common parts of the experiments' reports.
#pragma once

#include "io/output_folder.hpp"
#include "reports/json.hpp"

#include <warpalign/device.hpp>

#include <string>

namespace warpalign::program {

/// The device's id, name, platform, driver and sampling (with the reason if it is `buffer`).
[[nodiscard]] Json device_json(const DeviceInfo& device);

/// Adds the report as `name`, with a list of the folder's other files under "files".
void add_report(OutputFolder& folder, const std::string& name, Json report);

/// Formats a line such as "  files   a.png, b.svg in FOLDER".
[[nodiscard]] std::string files_line(const OutputFolder& folder);

}  // namespace warpalign::program
