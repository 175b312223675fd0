// Loading backend modules by exact name from one folder.
#include "device/loading/backend_loader.hpp"

#include "device/cache/folders.hpp"
#include "device/fork.hpp"
#include "device/loading/known_backends.hpp"

#include <warpalign/error.hpp>

#include <dlfcn.h>
#include <algorithm>

namespace warpalign::detail {

namespace {

std::string last_loader_error() {
  const char* text = dlerror();
  return text != nullptr ? text : "unknown reason";
}

bool is_known(const std::string& backend) {
  return std::find(known_backends.begin(), known_backends.end(), backend) != known_backends.end();
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

std::filesystem::path module_folder(const Config& config) {
  return std::filesystem::absolute(config.module_folder.value_or(library_folder()));
}

ModuleReport examine_module(const std::string& backend, const Config& config,
                            LoadedModule& module) {
  ModuleReport report;
  report.backend = backend;
  report.file = module_folder(config) / module_file_name(backend);
  std::error_code ignored;
  report.exists = std::filesystem::exists(report.file, ignored);
  if (!report.exists) {
    report.problem = "there is no module " + report.file.string();
    if (is_known(backend)) {
      report.problem += " (Debian's package libwarpalign-" + backend +
                        " brings it; a build makes it only where what it needs was found)";
    }
    return report;
  }
  // RTLD_LOCAL: two modules, or two versions of one, must not see each other's symbols.
  // RTLD_NODELETE: the drivers that a module depends on (ICD loader, PoCL, CUDA) leak or crash if
  // they are unloaded and loaded again. The module's code stays loaded; its devices are closed.
  void* raw = dlopen(report.file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (raw == nullptr) {
    report.problem = "its module does not load: " + last_loader_error();
    return report;
  }
  module.handle = std::shared_ptr<void>(raw, [](void* handle) { dlclose(handle); });
  const auto entry = reinterpret_cast<backend::ModuleFunction>(dlsym(raw, backend::module_symbol));
  if (entry == nullptr) {
    report.problem = report.file.string() + " is not a warpalign module";
    return report;
  }
  report.loads = true;
  module.table = entry();
  report.abi = module.table == nullptr ? 0 : module.table->abi;
  if (report.abi != backend::abi_number) {
    report.problem = report.file.string() + " was built for another version of warpalign";
  }
  return report;
}

LoadedModule load_module(const std::string& backend, const Config& config) {
  check_not_forked();
  register_fork_handler();
  LoadedModule module;
  const ModuleReport report = examine_module(backend, config, module);
  if (!report.problem.empty()) {
    throw Error(ErrorKind::device_unavailable, report.problem, {.backend = backend});
  }
  return module;
}

}  // namespace warpalign::detail
