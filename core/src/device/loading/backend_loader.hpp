// Loading backend modules by exact name from one folder.
#pragma once

#include <warpalign/backend/module.hpp>
#include <warpalign/installation.hpp>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace warpalign::detail {

/// A loaded module. Keep `handle` as long as any object made by the module exists.
struct LoadedModule {
  std::shared_ptr<void> handle;
  const backend::ModuleTable* table = nullptr;
};

/// The backends that the configuration names, or else those of this build, in order of preference.
[[nodiscard]] std::vector<std::string> backends_of(const Config& config);

/// "warpalign_cuda.so", ...
std::string module_file_name(const std::string& backend);

/// The absolute path of the folder of the modules.
[[nodiscard]] std::filesystem::path module_folder(const Config& config);

/// Finds and loads a module. `module` is usable if the report has no problem.
ModuleReport examine_module(const std::string& backend, const Config& config, LoadedModule& module);

/// Loads a module. Throws Error(device_unavailable), which says what is missing: the file, a
/// library that it needs, its entry point, or the right ABI number.
LoadedModule load_module(const std::string& backend, const Config& config);

}  // namespace warpalign::detail
