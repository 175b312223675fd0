// Runs other programs, if they are installed.
#include "program/run_shell.hpp"

#include "program/run_program.hpp"
#include "support/skipped.hpp"

#include <sys/wait.h>

#include <cstdlib>

namespace warpalign::test {

ShellOutcome run_shell(const std::string& line) {
  const ScratchFolder folder;
  write_text(folder / "line", line);
  const std::string command =
      "sh '" + folder / "line" + "' > '" + folder / "out" + "' 2>&1 < /dev/null";
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128, read_text(folder / "out")};
}

bool has_program(const std::string& name, const std::string& package) {
  if (run_shell("command -v " + name).status == 0) return true;
  ::test::skip_case(name + " is not installed (Debian's " + package + ")");
  return false;
}

}  // namespace warpalign::test
