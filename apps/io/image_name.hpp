// Names of images, which may say a page of a file.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>

namespace warpalign::program {

struct ImageName {
  std::filesystem::path file;
  std::optional<std::size_t> page;  ///< from 0
};

/// Splits "scan.tif[2]" into the file and the page, unless there is a file of the whole name.
[[nodiscard]] ImageName image_name(const std::filesystem::path& name);

}  // namespace warpalign::program
