// The wording of the options that many commands share.
#include "options/common_options.hpp"

#include "options/command_line.hpp"

namespace warpalign::program {

void add_device_options(CLI::App& command, DeviceOptions& options) {
  add_option(command, "--device", &options.device,
             "cuda, opencl, cuda:0, opencl:1, opencl:pocl, ...; see 'warpalign devices'");
  add_config_option(command, options.config);
}

void add_config_option(CLI::App& command, std::optional<std::string>& path) {
  add_option(command, "--config", &path, "Configuration file instead of the user's own");
}

void add_folder_option(CLI::App& command, std::string& folder) {
  add_option(command, "--output-folder", &folder, "The folder for the files", with_default);
}

Config config_of(const std::optional<std::string>& path) {
  return path ? read_config(*path) : default_config();
}

}  // namespace warpalign::program
