// Whether a file's name is that of a TIFF file.
#pragma once

#include <filesystem>

namespace warpalign::program {

/// Whether the name ends in .tif or .tiff.
[[nodiscard]] inline bool is_tiff_name(const std::filesystem::path& path) {
  return path.extension() == ".tif" || path.extension() == ".tiff";
}

}  // namespace warpalign::program
