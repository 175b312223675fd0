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

/// The backends that the configuration names, or else those of this build; best first.
[[nodiscard]] std::vector<std::string> backends_of(const Config& config);

/// "warpalign_cuda.so", ...
std::string module_file_name(const std::string& backend);

/// Where modules are looked for, as an absolute path.
[[nodiscard]] std::filesystem::path module_folder(const Config& config);

/// Looks for a module and loads it; `module` can be used where the report has no problem.
ModuleReport examine_module(const std::string& backend, const Config& config, LoadedModule& module);

/// Throws Error(device_unavailable), which says what is missing: the file, a library that it needs,
/// its entry point, or the right ABI number.
LoadedModule load_module(const std::string& backend, const Config& config);

}  // namespace warpalign::detail
