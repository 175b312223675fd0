// What the reports of registrations share: lines of text, and the stages' times.
#pragma once

#include <warpalign/registrar.hpp>

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace warpalign::program {

/// "  name       text\n".
[[nodiscard]] std::string report_line(const std::string& name, const std::string& text);

/// A bar chart; empty where there are no timings.
[[nodiscard]] std::string timing_lines(const std::vector<StageTiming>& timings);

/// Milliseconds by stage.
[[nodiscard]] nlohmann::ordered_json timings_json(const std::vector<StageTiming>& timings);

}  // namespace warpalign::program
