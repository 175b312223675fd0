// A description of the installation.
#include <warpalign/installation.hpp>

#include "device/cache/folders.hpp"
#include "device/loading/backend_loader.hpp"

namespace warpalign {

Installation describe_installation(const Config& config) {
  Installation found;
  found.library = detail::library_file();
  found.module_folder = detail::module_folder(config);
  found.backends = detail::backends_of(config);
  found.module_abi = backend::abi_number;
  found.cache_folder = config.cache_folder.value_or(detail::cache_folder());
  const std::filesystem::path folder = detail::config_folder();
  if (!folder.empty()) found.config_file = folder / "warpalign.toml";
  return found;
}

ModuleReport examine_module(const std::string& backend, const Config& config) {
  detail::LoadedModule module;
  return detail::examine_module(backend, config, module);
}

}  // namespace warpalign
