// What a failed read is told as.
#pragma once

#include "io/image_file.hpp"

namespace warpalign::program {

/// The error for a file that a POSIX call, which left `code` in errno, could not open or read. The
/// caller names the file.
[[nodiscard]] FileError cannot_read(int code);

}  // namespace warpalign::program
