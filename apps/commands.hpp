// The program's commands: each adds itself to the command line, in a command_*.cpp of its own.
#pragma once

#include "exit_status.hpp"

#include <CLI/App.hpp>

#include <functional>

namespace warpalign::program {

/// What the command line asks for; set by the command that was named.
using Action = std::function<ExitStatus()>;

void add_bench_command(CLI::App& program, Action& chosen);
void add_devices_command(CLI::App& program, Action& chosen);
void add_experiment_command(CLI::App& program, Action& chosen);
void add_prefilter_command(CLI::App& program, Action& chosen);
void add_register_command(CLI::App& program, Action& chosen);
void add_register_volume_command(CLI::App& program, Action& chosen);
void add_resample_command(CLI::App& program, Action& chosen);
void add_stack_command(CLI::App& program, Action& chosen);

// The experiments, which add themselves to `warpalign experiment`.
void add_accuracy_experiment(CLI::App& experiment, Action& chosen);
void add_rotations_experiment(CLI::App& experiment, Action& chosen);
void add_zoom_experiment(CLI::App& experiment, Action& chosen);

}  // namespace warpalign::program
