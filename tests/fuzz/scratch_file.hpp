// A file that holds a target's input.
#pragma once

#include "target.hpp"

#include <filesystem>
#include <string>

namespace warpalign::fuzz {

/// A folder of this process. The destructor removes it.
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

/// Replaces the content of the file of that name by the bytes. The same name always gives the same
/// path.
[[nodiscard]] std::filesystem::path as_file(Input bytes, const std::string& name = "input");

}  // namespace warpalign::fuzz
