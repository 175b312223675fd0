// What tells one run of `warpalign stack` from another.
#pragma once

#include "commands/stack_input.hpp"
#include "commands/stack_journal.hpp"
#include "commands/stack_options.hpp"

namespace warpalign::program {

/// Of the inputs: the names of the files without their folders, their sizes and times, and the
/// first frame's pixels. Of the options: those that the results depend on, and the program's
/// version; not the device, and not where the results go.
[[nodiscard]] RunFingerprint fingerprint_of(const StackOptions& options, const StackInput& input);

}  // namespace warpalign::program
