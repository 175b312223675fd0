// Shared by the targets of stacks and videos: reads all frames, with each way to select them.
#pragma once

#include "scratch_file.hpp"

namespace warpalign::fuzz {

/// Reads the input as the file of a stack, frame by frame.
void read_frames(Input input);

}  // namespace warpalign::fuzz
