// Output that only a terminal gets.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace warpalign::program {

/// Whether standard output is a terminal with colours and NO_COLOR (no-color.org) is not set.
[[nodiscard]] bool shows_colours();

enum class Colour { green, yellow, red };

/// The text in a colour, if the terminal shows colours.
[[nodiscard]] std::string coloured(std::string_view text, Colour colour);

/// Breaks a text at blanks into lines of at most `columns`. The first line starts with `head`, the
/// others are indented by its length. Longer words, such as paths, are not split.
[[nodiscard]] std::string wrapped(std::string_view head, std::string_view text,
                                  std::size_t columns = 100);

}  // namespace warpalign::program
