// What the command line asks the program to do.
#pragma once

#include "options/exit_status.hpp"

#include <functional>

namespace CLI {
class App;
}

namespace warpalign::program {

/// What to run. The chosen command sets it while the command line is parsed.
using Action = std::function<ExitStatus()>;

}  // namespace warpalign::program
