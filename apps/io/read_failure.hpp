// The error message for a failed read.
#pragma once

#include "io/image_file.hpp"

namespace warpalign::program {

/// The error for a file that a POSIX call could not open or read. `code`: the value of errno. The
/// caller adds the name of the file.
[[nodiscard]] FileError cannot_read(int code);

}  // namespace warpalign::program
