// `warpalign experiment`: the papers' experiments, on any device.
#include "commands.hpp"
#include "usage_error.hpp"

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

namespace warpalign::program {
namespace {

ExitStatus complain() {
  throw UsageError(
      "name an experiment: rotations, accuracy, zoom; see 'warpalign experiment --help'");
}

constexpr const char* footer =
    "Each experiment writes its pictures, plots and a JSON report into a folder, when all of them\n"
    "are ready. apps/README.md lists what is in the reports.\n"
    "\n"
    "Examples:\n"
    "  warpalign experiment rotations photograph.png --output-folder rotations\n"
    "  warpalign experiment accuracy --devices all\n"
    "  warpalign experiment zoom photograph.png --factor 8 --region 200,150,64,64\n";

}  // namespace

void add_experiment_command(CLI::App& program, Action& chosen) {
  CLI::App* command =
      program.add_subcommand("experiment", "Repeat the papers' experiments on this machine");
  command->footer(footer);
  add_rotations_experiment(*command, chosen);
  add_accuracy_experiment(*command, chosen);
  add_zoom_experiment(*command, chosen);
  command->callback([command, &chosen] {
    if (command->get_subcommands().empty()) chosen = complain;
  });
}

}  // namespace warpalign::program
