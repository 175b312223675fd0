// Identifies the state of a file without reading it.
#include "commands/file_stamp.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <filesystem>

namespace warpalign::program {

void add_file(Checksum& checksum, const std::string& name) {
  checksum.add(std::filesystem::path(name).filename().string());
  struct stat status {};
  if (name == "-" || ::stat(name.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return;
  checksum.add(
      fmt::format("{} {} {}", status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec));
}

}  // namespace warpalign::program
