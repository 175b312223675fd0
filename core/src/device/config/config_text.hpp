// Preparation of the text of a configuration file for the parser.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

namespace warpalign::detail {

/// The line number, from 1 on, of a character that is not allowed at its position.
struct RefusedCharacter {
  std::uint32_t line;
};

/// Converts TOML to ASCII. Characters beyond ASCII become \U escapes in double quotes on one line,
/// and question marks in comments. At any other position, and if they are not UTF-8, they are
/// refused.
///
/// The parser must get ASCII because toml++ 3.3 has undefined behaviour for other characters at
/// positions where it skips blanks: is_non_ascii_horizontal_whitespace() reaches code that it
/// declares unreachable (issues 190 and 295 of toml++).
[[nodiscard]] std::variant<std::string, RefusedCharacter> ascii_toml(std::string_view text);

}  // namespace warpalign::detail
