// Identifies the state of a file without reading it.
#pragma once

#include "io/checksum.hpp"

#include <string>

namespace warpalign::program {

/// Adds a file's name without its folder, and if there is such a file, its size and time.
void add_file(Checksum& checksum, const std::string& name);

}  // namespace warpalign::program
