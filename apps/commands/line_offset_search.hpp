// The offset between the lines of bidirectional scans, over the frames of a stack.
#pragma once

#include "commands/stack_input.hpp"
#include "io/image_file.hpp"

#include <warpalign/line_offset.hpp>

namespace warpalign::program {

/// Finds the offset over frames that are distributed over the whole recording, with all their
/// planes. Throws UsageError for frames that are too small, and FileError.
[[nodiscard]] LineOffset find_line_offset(const StackInput& input);

/// Undoes the offset in each channel of an image. Throws UsageError if the offset is not below the
/// width.
void undo_line_offset_in(LoadedImage& image, double pixels);

}  // namespace warpalign::program
