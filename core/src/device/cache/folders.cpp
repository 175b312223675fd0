// The folders of configuration, cache and modules (XDG base directories).
#include "device/cache/folders.hpp"

#include <warpalign/version.hpp>

#include <dlfcn.h>
#include <cstdlib>

namespace warpalign::detail {

namespace {

std::filesystem::path xdg_folder(const char* variable, const char* below_home) {
  // By the specification, a relative path in these variables is invalid and must be ignored.
  if (const char* set = std::getenv(variable); set != nullptr && *set == '/') {
    return std::filesystem::path(set) / "warpalign";
  }
  if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/') {
    return std::filesystem::path(home) / below_home / "warpalign";
  }
  return {};
}

}  // namespace

std::filesystem::path config_folder() { return xdg_folder("XDG_CONFIG_HOME", ".config"); }
std::filesystem::path cache_folder() { return xdg_folder("XDG_CACHE_HOME", ".cache"); }

std::filesystem::path library_file() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&version), &info) == 0 || info.dli_fname == nullptr) {
    return {};
  }
  std::error_code ignored;
  const auto real = std::filesystem::canonical(info.dli_fname, ignored);
  return ignored ? std::filesystem::path(info.dli_fname) : real;
}

std::filesystem::path library_folder() { return library_file().parent_path(); }

}  // namespace warpalign::detail
