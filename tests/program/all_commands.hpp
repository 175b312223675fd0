// Every command of the program, as its own manual pages name them.
#pragma once

#include <string>
#include <vector>

namespace warpalign::test {

/// {}, {"register"}, {"experiment", "zoom"}, ...
[[nodiscard]] std::vector<std::vector<std::string>> all_commands();

}  // namespace warpalign::test
