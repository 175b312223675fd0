// The measures of a deformation as text and JSON.
#pragma once

#include "reports/json.hpp"

#include <warpalign/deformation.hpp>

#include <optional>
#include <string>

namespace warpalign::program {

/// Null without a deformation.
[[nodiscard]] Json deformation_json(const std::optional<Deformation>& deformation);
/// A line of the report; empty without a deformation.
[[nodiscard]] std::string deformation_line(const std::optional<Deformation>& deformation);

}  // namespace warpalign::program
