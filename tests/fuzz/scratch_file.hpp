// The file that a target has its input read from.
#pragma once

#include "target.hpp"

#include <filesystem>
#include <string>

namespace warpalign::fuzz {

/// A folder of this process, removed at its end.
class ScratchFolder {
 public:
  ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// Puts the bytes into a file of that name, in place of what was there. The same name gives the
/// same path each time.
[[nodiscard]] std::filesystem::path as_file(Input bytes, const std::string& name = "input");

}  // namespace warpalign::fuzz
