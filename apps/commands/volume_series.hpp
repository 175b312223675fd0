// `warpalign stack` of a series of volumes: registers each volume to one, and removes its motion.
#pragma once

#include "commands/series_input.hpp"
#include "commands/stack_options.hpp"
#include "options/exit_status.hpp"

namespace warpalign::program {

/// Runs the command for files of which are_volumes() or is_volume_recording() is true.
[[nodiscard]] ExitStatus run_volume_series(const StackOptions& options, SeriesKind kind);

}  // namespace warpalign::program
