// Identifies a run of `warpalign stack`.
#pragma once

#include "commands/stack_input.hpp"
#include "commands/stack_journal.hpp"
#include "commands/stack_options.hpp"

namespace warpalign::program {

/// Hashes the inputs (the names of the files without their folders, their sizes and times, and the
/// first frame's pixels) and the options that affect the results, including the program's version.
/// The device and the names of the outputs are not part of it.
[[nodiscard]] RunFingerprint fingerprint_of(const StackOptions& options, const StackInput& input);

}  // namespace warpalign::program
