// Runs other programs, if they are installed.
#pragma once

#include <string>

namespace warpalign::test {

struct ShellOutcome {
  int status = -1;
  std::string out;  ///< stdout and stderr
};

/// Runs a command line with /bin/sh.
[[nodiscard]] ShellOutcome run_shell(const std::string& line);

/// Whether this program is installed. If not, the running case is recorded as skipped.
[[nodiscard]] bool has_program(const std::string& name, const std::string& package);

}  // namespace warpalign::test
