// Writes and parses the journal line of a frame.
#pragma once

#include "reports/stack_frame.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace warpalign::program {

/// Words separated by blanks, without a newline. Numbers are written without loss.
[[nodiscard]] std::string journal_line(const StackFrame& frame);
/// The inverse. Returns nothing for an invalid line.
[[nodiscard]] std::optional<StackFrame> parse_journal_line(std::string_view line);

/// The same for the line that names the drift's origin.
[[nodiscard]] std::string origin_line(const DriftOrigin& origin);
[[nodiscard]] std::optional<DriftOrigin> parse_origin_line(std::string_view line);

}  // namespace warpalign::program
