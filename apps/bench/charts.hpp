// The charts of a report: one or more for each suite.
#pragma once

#include "bench/record.hpp"

#include <string>
#include <vector>

namespace warpalign::program::bench {

/// SVG images; empty for a suite without results.
[[nodiscard]] std::vector<std::string> charts_of(const Record& record, const std::string& suite);

}  // namespace warpalign::program::bench
