// A file that holds a target's input.
#include "scratch_file.hpp"

#include <unistd.h>

#include <fstream>
#include <system_error>

namespace warpalign::fuzz {

ScratchFolder::ScratchFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "warpalign-fuzz-XXXXXX").string();
  require(::mkdtemp(name.data()) != nullptr, "a temporary folder can be made");
  path_ = name;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::filesystem::path as_file(Input bytes, const std::string& name) {
  static const ScratchFolder folder;
  std::filesystem::path path = folder.path() / name;
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  require(file.good(), "the temporary file can be written");
  return path;
}

}  // namespace warpalign::fuzz
