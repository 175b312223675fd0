// What a terminal is shown, and a file or pipe is not.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace warpalign::program {

/// Whether standard output is a terminal that shows colours, and nobody has set NO_COLOR
/// (no-color.org).
[[nodiscard]] bool shows_colours();

enum class Colour { green, yellow, red };

/// The text with its colour, where colours are shown.
[[nodiscard]] std::string coloured(std::string_view text, Colour colour);

/// Breaks a text at blanks into lines of at most `columns`; the first begins with `head`, the
/// others with as many blanks. Longer words, such as paths, stay whole.
[[nodiscard]] std::string wrapped(std::string_view head, std::string_view text,
                                  std::size_t columns = 100);

}  // namespace warpalign::program
