// The program's commands. Each is declared in its own file.
#pragma once

#include "options/action.hpp"

namespace warpalign::program {

void add_bench_command(CLI::App& program, Action& chosen);
void add_completion_command(CLI::App& program, Action& chosen);
void add_devices_command(CLI::App& program, Action& chosen);
void add_doctor_command(CLI::App& program, Action& chosen);
void add_experiment_command(CLI::App& program, Action& chosen);
void add_man_command(CLI::App& program, Action& chosen);
void add_mosaic_command(CLI::App& program, Action& chosen);
void add_prefilter_command(CLI::App& program, Action& chosen);
void add_register_command(CLI::App& program, Action& chosen);
void add_register_volume_command(CLI::App& program, Action& chosen);
void add_resample_command(CLI::App& program, Action& chosen);
void add_stack_command(CLI::App& program, Action& chosen);
void add_template_command(CLI::App& program, Action& chosen);
void add_transform_command(CLI::App& program, Action& chosen);
void add_warm_up_command(CLI::App& program, Action& chosen);

}  // namespace warpalign::program
