// The experiments of `warpalign experiment`. Each is declared in its own file.
#pragma once

#include "options/action.hpp"

namespace warpalign::program {

void add_accuracy_experiment(CLI::App& experiment, Action& chosen);
void add_rotations_experiment(CLI::App& experiment, Action& chosen);
void add_zoom_experiment(CLI::App& experiment, Action& chosen);

}  // namespace warpalign::program
