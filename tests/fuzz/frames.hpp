// What the targets of stacks and videos share: all frames are read, in each way to choose them.
#pragma once

#include "scratch_file.hpp"

namespace warpalign::fuzz {

/// Reads the input as the file of a stack, frame by frame.
void read_frames(Input input);

}  // namespace warpalign::fuzz
