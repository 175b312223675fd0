// Text escaped for HTML, SVG and XML.
#pragma once

#include <string>

namespace warpalign::program {

/// Escapes &, <, > and ".
[[nodiscard]] std::string escaped(const std::string& text);

}  // namespace warpalign::program
