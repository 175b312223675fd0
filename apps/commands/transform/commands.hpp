// The commands of `warpalign transform`.
#pragma once

#include "options/action.hpp"

namespace warpalign::program {

void add_transform_show_command(CLI::App& parent, Action& chosen);
void add_transform_convert_command(CLI::App& parent, Action& chosen);
void add_transform_compose_command(CLI::App& parent, Action& chosen);
void add_transform_invert_command(CLI::App& parent, Action& chosen);
void add_transform_points_command(CLI::App& parent, Action& chosen);
void add_transform_apply_command(CLI::App& parent, Action& chosen);
void add_transform_labels_command(CLI::App& parent, Action& chosen);

}  // namespace warpalign::program
