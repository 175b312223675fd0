// The common parts of registration reports: lines of text, and the time of each stage.
#pragma once

#include "reports/json.hpp"

#include <warpalign/device.hpp>
#include <warpalign/registrar.hpp>

#include <string>
#include <vector>

namespace warpalign::program {

struct WrittenFile {
  std::string what;  ///< "aligned", "overlay"
  std::string path;
  std::string description;
};

/// Formats a line "  name       text\n".
[[nodiscard]] std::string report_line(const std::string& name, const std::string& text);

/// The end of every report: the device, the files written, the time taken, and the time of each
/// stage if it was measured.
[[nodiscard]] std::string closing_lines(const DeviceInfo& device,
                                        const std::vector<WrittenFile>& files, double seconds,
                                        const std::vector<StageTiming>& timings);

/// How many pixels had no value and were ignored. `samples`: "pixels" or "voxels". Empty if none.
[[nodiscard]] std::string missing_line(const MissingPixels& missing, const char* samples);
[[nodiscard]] Json missing_json(const MissingPixels& missing);

/// A bar chart of the timings; empty without timings.
[[nodiscard]] std::string timing_lines(const std::vector<StageTiming>& timings);

/// Milliseconds by stage.
[[nodiscard]] Json timings_json(const std::vector<StageTiming>& timings);

}  // namespace warpalign::program
