// Loading backend modules by exact name from one folder.
#include "device/backend_loader.hpp"

#include "device/folders.hpp"
#include "device/known_backends.hpp"

#include <warpalign/error.hpp>

#include <dlfcn.h>

namespace warpalign::detail {

namespace {

[[noreturn]] void unavailable(const std::string& backend, const std::string& reason) {
  throw Error(ErrorKind::device_unavailable, reason, {.backend = backend});
}

std::string last_loader_error() {
  const char* text = dlerror();
  return text != nullptr ? text : "unknown reason";
}

}  // namespace

std::vector<std::string> backends_of(const Config& config) {
  if (!config.backends.empty()) return config.backends;
  return {known_backends.begin(), known_backends.end()};
}

std::string module_file_name(const std::string& backend) {
#if defined(__APPLE__)
  return "warpalign_" + backend + ".dylib";
#else
  return "warpalign_" + backend + ".so";
#endif
}

LoadedModule load_module(const std::string& backend, const Config& config) {
  const std::filesystem::path folder = config.module_folder.value_or(library_folder());
  const std::filesystem::path file = std::filesystem::absolute(folder) / module_file_name(backend);
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) {
    unavailable(backend, "there is no module " + file.string() +
                             " (was it built? what it needs may have been missing then)");
  }
  // RTLD_LOCAL: two modules, or two versions of one, must not see each other's symbols.
  // RTLD_NODELETE: the drivers that a module depends on (ICD loader, PoCL, CUDA) leak or crash when
  // they are unloaded and loaded again. The module's code stays loaded; what it opened is closed.
  void* raw = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (raw == nullptr) unavailable(backend, "its module does not load: " + last_loader_error());
  LoadedModule module;
  module.handle = std::shared_ptr<void>(raw, [](void* handle) { dlclose(handle); });
  const auto entry = reinterpret_cast<backend::ModuleFunction>(dlsym(raw, backend::module_symbol));
  if (entry == nullptr) unavailable(backend, file.string() + " is not a warpalign module");
  module.table = entry();
  if (module.table == nullptr || module.table->abi != backend::abi_number) {
    unavailable(backend, file.string() + " was built for another version of warpalign");
  }
  return module;
}

}  // namespace warpalign::detail
