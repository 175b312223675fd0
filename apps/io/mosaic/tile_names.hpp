// The names of tiles in messages of the library.
#pragma once

#include <string>
#include <vector>

namespace warpalign::program {

/// Replaces "tile 7" in a message of the library by the tile's name.
[[nodiscard]] std::string with_tile_names(const std::string& message,
                                          const std::vector<std::string>& names);

}  // namespace warpalign::program
