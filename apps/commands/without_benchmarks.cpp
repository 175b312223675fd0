// The commands `bench` and `experiment` of a program that was built without them
// (WARPALIGN_BENCHMARKS=OFF): they say how to build them.
#include "commands/commands.hpp"
#include "io/usage_error.hpp"
#include "options/command_line.hpp"

#include <fmt/format.h>

#include <string>

namespace warpalign::program {
namespace {

void add_absent_command(CLI::App& program, Action& chosen, const std::string& name) {
  CLI::App& command =
      add_command(program, name, "Not in this program, which says how to build it", "Measurements");
  accept_any_arguments(command);
  set_footer(command,
             "script/bootstrap builds it, as does CMake with -DWARPALIGN_BENCHMARKS=ON.\n");
  set_action(command, chosen, [name]() -> ExitStatus {
    throw UsageError(fmt::format(
        "{}: this program was built without it; script/bootstrap builds it, as does CMake with "
        "-DWARPALIGN_BENCHMARKS=ON",
        name));
  });
}

}  // namespace

void add_bench_command(CLI::App& program, Action& chosen) {
  add_absent_command(program, chosen, "bench");
}

void add_experiment_command(CLI::App& program, Action& chosen) {
  add_absent_command(program, chosen, "experiment");
}

}  // namespace warpalign::program
