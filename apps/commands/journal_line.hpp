// A frame as a line of the journal.
#pragma once

#include "reports/stack_frame.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace warpalign::program {

/// Words with blanks between them, without a newline; numbers are written without loss.
[[nodiscard]] std::string journal_line(const StackFrame& frame);
/// The reverse; nothing for anything else.
[[nodiscard]] std::optional<StackFrame> parse_journal_line(std::string_view line);

/// The line with its checksum and a newline, and back: nothing where the checksum does not fit.
[[nodiscard]] std::string sealed(const std::string& line);
[[nodiscard]] std::optional<std::string> unsealed(std::string_view line);

}  // namespace warpalign::program
