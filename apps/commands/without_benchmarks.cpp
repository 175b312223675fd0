// The commands `bench` and `experiment` of a program that was built without them
// (WARPALIGN_BENCHMARKS=OFF). They explain how to build them.
#include "commands/commands.hpp"
#include "io/usage_error.hpp"
#include "options/command_line.hpp"

#include <fmt/format.h>

#include <string>

namespace warpalign::program {
namespace {

void add_absent_command(CLI::App& program, Action& chosen, const std::string& name) {
  CLI::App& command = add_command(
      program, name, "Not part of this build; run it to see how to add it", "Measurements");
  accept_any_arguments(command);
  set_footer(command,
             "Build it with script/bootstrap or with CMake and -DWARPALIGN_BENCHMARKS=ON.\n");
  set_action(command, chosen, [name]() -> ExitStatus {
    throw UsageError(fmt::format(
        "{}: this program was built without this command; build it with script/bootstrap or with "
        "CMake and -DWARPALIGN_BENCHMARKS=ON",
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
