// The wording of the options that many commands share.
#include "common_options.hpp"

namespace warpalign::program {

void add_device_options(CLI::App& command, DeviceOptions& options) {
  command.add_option("--device", options.device,
                     "cuda, opencl, cuda:0, opencl:1, opencl:pocl, ...; see 'warpalign devices'");
  add_config_option(command, options.config);
}

void add_config_option(CLI::App& command, std::optional<std::string>& path) {
  command.add_option("--config", path, "Configuration file instead of the user's own");
}

void add_folder_option(CLI::App& command, std::string& folder) {
  command.add_option("--output-folder", folder, "Where the files go")->capture_default_str();
}

Config config_of(const std::optional<std::string>& path) {
  return path ? read_config(*path) : default_config();
}

}  // namespace warpalign::program
