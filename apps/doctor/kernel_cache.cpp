// Checks the folder of compiled kernels.
#include "doctor/kernel_cache.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>

namespace warpalign::program::doctor {
namespace {

using Path = std::filesystem::path;

// About the size of a compiled kernel.
constexpr std::size_t probe_bytes = 65536;

Path nearest_existing(Path folder) {
  std::error_code ignored;
  while (!std::filesystem::exists(folder, ignored) && folder.has_relative_path()) {
    folder = folder.parent_path();
  }
  return folder;
}

/// Tries to create a file of typical size in the folder. Returns errno, or 0 on success.
int obstacle(const Path& folder) {
  std::string name = (folder / ".warpalign-doctor-XXXXXX").string();
  const int descriptor = ::mkstemp(name.data());
  if (descriptor < 0) return errno;
  std::string_view rest;
  const std::string bytes(probe_bytes, '\0');
  rest = bytes;
  int failed = 0;
  while (!rest.empty() && failed == 0) {
    const ssize_t written = ::write(descriptor, rest.data(), rest.size());
    if (written > 0) {
      rest.remove_prefix(static_cast<std::size_t>(written));
    } else {
      failed = written < 0 ? errno : EIO;
    }
  }
  ::close(descriptor);
  ::unlink(name.c_str());
  return failed;
}

/// Whether the user owns the folder and nobody else may write to it. Otherwise the library refuses
/// to load kernels from it.
bool is_trusted(const Path& folder) {
  struct stat status {};
  return ::stat(folder.c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
         status.st_uid == ::geteuid() && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

void count_entries(KernelCache& cache) {
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(cache.folder, failed)) {
    if (entry.path().extension() != ".bin") continue;
    const std::uintmax_t size = entry.file_size(failed);
    if (failed) continue;
    ++cache.entries;
    cache.bytes += size;
  }
}

}  // namespace

KernelCache examine_kernel_cache(const Path& folder) {
  KernelCache cache;
  cache.folder = folder;
  if (folder.empty()) {
    cache.problem = "it has no folder: neither HOME nor XDG_CACHE_HOME is set";
    return cache;
  }
  std::error_code ignored;
  cache.exists = std::filesystem::exists(folder, ignored);
  if (cache.exists) count_entries(cache);
  if (cache.exists && !is_trusted(folder)) {
    cache.problem =
        "it is not used: it must be a folder that belongs to this user and that other users cannot "
        "write to";
    return cache;
  }
  const Path tried = nearest_existing(folder);
  const int failed = obstacle(tried);
  cache.writable = failed == 0;
  if (failed != 0) {
    cache.problem = fmt::format("{} cannot be written to ({})", tried.string(),
                                std::generic_category().message(failed));
  }
  return cache;
}

}  // namespace warpalign::program::doctor
