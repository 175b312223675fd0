// Running other programs, where they are installed.
#pragma once

#include <string>

namespace warpalign::test {

struct ShellOutcome {
  int status = -1;
  std::string out;  ///< and what it says on stderr
};

/// Runs a line of /bin/sh.
[[nodiscard]] ShellOutcome run_shell(const std::string& line);

/// Whether a program of this name is installed; if not, the running case is noted as skipped.
[[nodiscard]] bool has_program(const std::string& name, const std::string& package);

}  // namespace warpalign::test
