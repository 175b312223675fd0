// The report: a single self-contained HTML file.
#pragma once

#include "bench/baseline.hpp"
#include "bench/record.hpp"

#include <optional>
#include <string>

namespace warpalign::program::bench {

[[nodiscard]] std::string report_html(const Record& record,
                                      const std::optional<Comparison>& comparison);

}  // namespace warpalign::program::bench
