// Keeps each message on one line.
#pragma once

#include <string>
#include <string_view>

namespace warpalign::program {

/// Replaces newlines and other control characters by single spaces.
[[nodiscard]] std::string on_one_line(std::string_view text);

}  // namespace warpalign::program
