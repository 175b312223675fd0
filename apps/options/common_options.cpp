// Declares the options that many commands share.
#include "options/common_options.hpp"

#include "io/messages.hpp"
#include "options/command_line.hpp"

#include <cstdlib>

#include <fmt/format.h>

namespace warpalign::program {

const char* const device_names = "cuda opencl cuda:0 opencl:0 opencl:pocl opencl:nvidia";

void add_device_options(CLI::App& command, DeviceOptions& options) {
  begin_group(command, "Device");
  add_option(command, "--device NAME", &options.device,
             "cuda, opencl, cuda:0, opencl:1, opencl:pocl, ...; see 'warpalign devices'",
             suggesting(device_names));
  add_config_option(command, options.config);
}

void add_config_option(CLI::App& command, std::optional<std::string>& path) {
  add_option(command, "--config FILE", &path,
             "Configuration file to use instead of the default one");
}

void add_folder_option(CLI::App& command, std::string& folder) {
  add_option(command, "--output-folder FOLDER", &folder, "Folder for the output files",
             with_default);
}

Config config_of(const std::optional<std::string>& path) {
  Config config = path ? read_config(*path) : default_config();
  detail("configuration: " + (config.origin.empty() ? "none" : config.origin.string()));
  return config;
}

Device open_chosen(const DeviceOptions& options, const Config& config) {
  Device device = open_device(options.device, config);
  const DeviceInfo& info = device.info();
  detail(
      fmt::format("device {}: {} ({}, driver {})", info.id, info.name, info.platform, info.driver));
  return device;
}

Device open_for_one_job(const DeviceOptions& options, const Config& config) {
  constexpr int unless_set = 0;
  ::setenv("CUDA_DEVICE_MAX_CONNECTIONS", "1", unless_set);
  return open_chosen(options, config);
}

}  // namespace warpalign::program
