// What is checked of a configuration file's text before it is parsed.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace warpalign::detail {

/// The line, from 1 on, of the first character beyond ASCII that stands neither in a comment nor in
/// quotes behind an equals sign. toml++ 3.3 reads such characters in keys with undefined behaviour
/// (is_non_ascii_horizontal_whitespace() reaches what it calls unreachable), and no key has any.
[[nodiscard]] std::optional<std::uint32_t> line_beyond_ascii(std::string_view text);

}  // namespace warpalign::detail
