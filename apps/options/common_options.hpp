// The options that many commands share: the device, the configuration and the output folder.
#pragma once

#include <warpalign/open_device.hpp>

#include <optional>
#include <string>

namespace CLI {
class App;
}

namespace warpalign::program {

/// The options as typed, unchecked.
struct DeviceOptions {
  std::string device;
  std::optional<std::string> config;
};

/// The device names that shell completion offers.
extern const char* const device_names;

/// Adds --device and --config.
void add_device_options(CLI::App& command, DeviceOptions& options);
/// Adds --config alone.
void add_config_option(CLI::App& command, std::optional<std::string>& path);
/// Adds --output-folder; the folder's current value is the default.
void add_folder_option(CLI::App& command, std::string& folder);

/// Reads this configuration file, or the default one. Throws Error for an invalid file.
[[nodiscard]] Config config_of(const std::optional<std::string>& path);
/// Opens the device that the options name, or the best one. Throws Error if that fails.
[[nodiscard]] Device open_chosen(const DeviceOptions& options, const Config& config);
/// The same for commands that run their work on the device sequentially. Sets
/// CUDA_DEVICE_MAX_CONNECTIONS to 1 unless it is set: with a single connection NVIDIA's driver
/// opens the device faster, especially if several processes open it at the same time. Overlapping
/// work needs more connections.
[[nodiscard]] Device open_for_one_job(const DeviceOptions& options, const Config& config);

}  // namespace warpalign::program
