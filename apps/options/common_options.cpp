// Declares the options that many commands share.
#include "options/common_options.hpp"

#include "io/messages.hpp"
#include "io/usage_error.hpp"
#include "options/command_line.hpp"

#include <cstdlib>

#include <fmt/format.h>

#include <sstream>
#include <string_view>

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

void add_processing_options(CLI::App& command, DeviceOptions& options) {
  add_device_options(command, options);
  add_limit_options(command);
  add_message_options(command);
}

void add_json_option(CLI::App& command, bool& json) {
  add_option(command, "--json", &json, "Print one JSON object and nothing else");
}

void add_timings_option(CLI::App& command, bool& timings) {
  begin_group(command, "Results");
  add_option(command, "--timings", &timings, "Measure and print the device time of each stage");
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

namespace {

constexpr std::string_view all_devices = ":all";

/// The names of the devices that one word of a list means.
std::vector<std::string> device_names_of(const std::string& word, const Config& config) {
  if (!word.ends_with(all_devices)) return {word};
  const std::string wanted = word.substr(0, word.size() - all_devices.size());
  std::vector<std::string> names;
  for (const BackendReport& backend : list_backends(config)) {
    if (backend.backend != wanted) continue;
    for (const DeviceInfo& device : backend.devices) names.push_back(device.id);
  }
  if (names.empty()) {
    throw UsageError(
        fmt::format("--device {}: there is no such device; see 'warpalign devices'", word));
  }
  return names;
}

}  // namespace

bool names_several_devices(const DeviceOptions& options) {
  return options.device.find(',') != std::string::npos || options.device.ends_with(all_devices);
}

std::vector<Device> open_each_chosen(const DeviceOptions& options, const Config& config) {
  std::vector<Device> devices;
  std::istringstream words(options.device);
  for (std::string word; std::getline(words, word, ',');) {
    for (const std::string& name : device_names_of(word, config)) {
      devices.push_back(open_chosen({name, options.config}, config));
    }
  }
  if (devices.empty()) devices.push_back(open_chosen(options, config));
  return devices;
}

Device open_for_one_job(const DeviceOptions& options, const Config& config) {
  constexpr int unless_set = 0;
  ::setenv("CUDA_DEVICE_MAX_CONNECTIONS", "1", unless_set);
  return open_chosen(options, config);
}

}  // namespace warpalign::program
