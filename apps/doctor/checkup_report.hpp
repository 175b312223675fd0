// The doctor's report, for people and for bug reports.
#pragma once

#include "doctor/checkup.hpp"

#include <string>

namespace warpalign::program::doctor {

/// One JSON object, as apps/README.md lists it.
[[nodiscard]] std::string json_text(const Checkup& checkup);
/// The conclusion in the first line, then everything that was found, then what to do.
[[nodiscard]] std::string human_text(const Checkup& checkup);

}  // namespace warpalign::program::doctor
