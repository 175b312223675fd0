// The names of tiles in files that name them.
#pragma once

#include <filesystem>
#include <string>
#include <system_error>

namespace warpalign::program {

/// A tile's file, given relative to `folder`, relative to the folder of `file`.
[[nodiscard]] inline std::string relative_name(const std::filesystem::path& file,
                                               const std::filesystem::path& folder,
                                               const std::string& tile) {
  std::error_code failed;
  const auto from = std::filesystem::absolute(file, failed).parent_path();
  const auto to = std::filesystem::absolute(folder / tile, failed);
  return std::filesystem::relative(to, from, failed).generic_string();
}

}  // namespace warpalign::program
