// The doctor's report as text and as JSON.
#pragma once

#include "doctor/checkup.hpp"

#include <string>

namespace warpalign::program::doctor {

/// One JSON object; docs/reference/program-output.md describes it.
[[nodiscard]] std::string json_text(const Checkup& checkup);
/// The conclusion on the first line, then all findings, then advice.
[[nodiscard]] std::string human_text(const Checkup& checkup);

}  // namespace warpalign::program::doctor
