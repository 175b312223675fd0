// Provides a folder for the files of PoCL's compiler.
#include "device/pocl_cache.hpp"

#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

namespace warpalign::opencl {
namespace {

using Path = std::filesystem::path;

constexpr const char* variable = "POCL_CACHE_DIR";
// The kernels of a registration take 3 MB. A disk with less free space than this counts as full.
constexpr std::uint64_t min_space = 16 << 20;

const char* value_of(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr || *value == '\0' ? nullptr : value;
}

/// The folder that PoCL would choose. Empty if PoCL would choose a temporary folder.
Path default_folder() {
  if (const char* folder = value_of(variable)) return folder;
  if (const char* cache = value_of("XDG_CACHE_HOME")) return Path(cache) / "pocl" / "kcache";
  if (const char* home = value_of("HOME")) return Path(home) / ".cache" / "pocl" / "kcache";
  return {};
}

/// The folder itself, or its nearest parent that exists. Does not create it, because the machine
/// may not have PoCL.
Path existing_parent(Path folder) {
  std::error_code ignored;
  folder = std::filesystem::absolute(folder, ignored);
  while (!std::filesystem::exists(folder, ignored) && folder.has_relative_path()) {
    folder = folder.parent_path();
  }
  return folder;
}

/// The errno that explains why no file can be created in the folder; 0 if files can.
int write_error(const Path& folder) {
  std::string probe = (folder / ".warpalign-XXXXXX").string();
  const int descriptor = ::mkstemp(probe.data());
  if (descriptor < 0) return errno;
  ::close(descriptor);
  ::unlink(probe.c_str());
  struct statvfs disk {};
  if (::statvfs(folder.c_str(), &disk) != 0) return 0;
  const bool full = std::uint64_t{disk.f_bavail} * disk.f_frsize < min_space;
  return full ? ENOSPC : 0;
}

/// Whether others can write to the folder. PoCL loads and runs any file that it finds there.
bool is_exposed(const Path& folder) {
  struct stat status {};
  if (::stat(folder.c_str(), &status) != 0) return false;  // PoCL creates it, for this user alone
  return status.st_uid != ::geteuid() || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0;
}

/// Why PoCL must not use a folder, as the predicate of a sentence; empty if it may.
std::string reason_against(const Path& folder) {
  if (is_exposed(folder)) return " belongs to another user, or others may write to it, ";
  const int code = write_error(existing_parent(folder));
  if (code == 0) return {};
  return " cannot be written to (" + std::generic_category().message(code) + "), ";
}

/// A folder that the process removes when it ends. A forked child does not remove it.
class TemporaryFolder {
 public:
  TemporaryFolder() = default;
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty() && ::getpid() == maker_) std::filesystem::remove_all(path_, ignored);
  }

  /// Returns false if no folder is writable.
  bool make() {
    std::error_code ignored;
    for (const Path& above : {std::filesystem::temp_directory_path(ignored), Path("/dev/shm")}) {
      if (above.empty() || write_error(above) != 0) continue;
      std::string name = (above / "warpalign-pocl-XXXXXX").string();
      if (::mkdtemp(name.data()) == nullptr) continue;
      path_ = name;
      maker_ = ::getpid();
      return true;
    }
    return false;
  }
  [[nodiscard]] const Path& path() const { return path_; }

 private:
  Path path_;
  pid_t maker_ = 0;
};

/// The decision, made once per process.
class PoclCache {
 public:
  PoclCache() {
    const Path folder = default_folder();
    if (folder.empty()) return;
    const std::string reason = reason_against(folder);
    if (reason.empty()) return;
    problem_ = folder.string() + reason;
    if (temporary_.make()) {
      ::setenv(variable, temporary_.path().c_str(), 1);
      problem_ += "so PoCL compiles into a temporary folder, again in each process";
    } else {
      problem_ += "and no temporary folder is writable; PoCL needs one of them";
    }
  }
  [[nodiscard]] const std::string& problem() const { return problem_; }

 private:
  TemporaryFolder temporary_;
  std::string problem_;
};

const PoclCache& pocl_cache() {
  static const PoclCache one;
  return one;
}

}  // namespace

void provide_pocl_cache() { static_cast<void>(pocl_cache()); }

const std::string& pocl_cache_problem() { return pocl_cache().problem(); }

}  // namespace warpalign::opencl
