// What the command line asks the program to do.
#pragma once

#include "options/exit_status.hpp"

#include <functional>

namespace CLI {
class App;
}

namespace warpalign::program {

/// Set by the command that was named; the program runs it once the command line is read.
using Action = std::function<ExitStatus()>;

}  // namespace warpalign::program
