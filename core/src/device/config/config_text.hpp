// What is done to a configuration file's text before it is parsed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

namespace warpalign::detail {

/// The line, from 1 on, of a character that may not stand where it does.
struct RefusedCharacter {
  std::uint32_t line;
};

/// The same TOML in ASCII: characters beyond it become \u escapes in double quotes of one line, and
/// question marks in comments. Anywhere else, and where they are no UTF-8, they are refused.
///
/// The parser is given ASCII alone because toml++ 3.3 reads other characters, wherever it is ready
/// to skip blanks, with undefined behaviour: is_non_ascii_horizontal_whitespace() reaches what it
/// calls unreachable (its issues 190 and 295).
[[nodiscard]] std::variant<std::string, RefusedCharacter> ascii_toml(std::string_view text);

}  // namespace warpalign::detail
