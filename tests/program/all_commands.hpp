// The list of the program's commands, from its manual pages.
#pragma once

#include <string>
#include <vector>

namespace warpalign::test {

/// {}, {"register"}, {"experiment", "zoom"}, ...
[[nodiscard]] std::vector<std::vector<std::string>> all_commands();

}  // namespace warpalign::test
