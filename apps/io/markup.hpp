// Text escaped for HTML and SVG.
#pragma once

#include <string>

namespace warpalign::program {

/// Escapes &, <, > and ".
[[nodiscard]] std::string escaped(const std::string& text);

}  // namespace warpalign::program
