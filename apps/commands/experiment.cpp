// `warpalign experiment`: repeats the papers' experiments on any device.
#include "commands/commands.hpp"
#include "experiments/experiments.hpp"
#include "io/usage_error.hpp"
#include "options/command_line.hpp"

namespace warpalign::program {
namespace {

ExitStatus complain() {
  throw UsageError(
      "no experiment given (choose from: rotations, accuracy, zoom); see 'warpalign experiment "
      "--help'");
}

constexpr const char* footer =
    "Each experiment writes its pictures, plots and a JSON report to a folder once all of them "
    "are\n"
    "ready. apps/README.md describes the reports.\n"
    "\n"
    "Examples:\n"
    "  warpalign experiment rotations photograph.png --output-folder rotations\n"
    "  warpalign experiment accuracy --devices all\n"
    "  warpalign experiment zoom photograph.png --factor 8 --region 200,150,64,64\n";

}  // namespace

void add_experiment_command(CLI::App& program, Action& chosen) {
  CLI::App& command = add_command(program, "experiment",
                                  "Repeat the papers' experiments on this machine", "Measurements");
  set_footer(command, footer);
  add_rotations_experiment(command, chosen);
  add_accuracy_experiment(command, chosen);
  add_zoom_experiment(command, chosen);
  set_action(command, chosen, complain);
}

}  // namespace warpalign::program
