// The report: one HTML file that needs nothing else.
#pragma once

#include "bench/baseline.hpp"
#include "bench/record.hpp"

#include <optional>
#include <string>

namespace warpalign::program::bench {

[[nodiscard]] std::string report_html(const Record& record,
                                      const std::optional<Comparison>& comparison);

}  // namespace warpalign::program::bench
