// The options that many commands share: the device, the configuration and the output folder.
#pragma once

#include <warpalign/open_device.hpp>

#include <optional>
#include <string>
#include <vector>

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
/// Adds the options of commands that process images or arrays on a device: those of
/// add_device_options(), add_limit_options() and add_message_options(), which end the list.
void add_processing_options(CLI::App& command, DeviceOptions& options);
/// Adds --json, for commands that print either lines for people or one JSON object.
void add_json_option(CLI::App& command, bool& json);
/// Adds --timings, to the group of results.
void add_timings_option(CLI::App& command, bool& timings);
/// Adds --output-folder; the folder's current value is the default.
void add_folder_option(CLI::App& command, std::string& folder);

/// Reads this configuration file, or the default one. Throws Error for an invalid file.
[[nodiscard]] Config config_of(const std::optional<std::string>& path);
/// Opens the device that the options name, or the best one. Throws Error if that fails.
[[nodiscard]] Device open_chosen(const DeviceOptions& options, const Config& config);
/// Whether --device may name several devices: names separated by commas, or "cuda:all" for all
/// devices of a backend.
[[nodiscard]] bool names_several_devices(const DeviceOptions& options);
/// Opens one or several devices for a command that shares its work among them. A name that appears
/// twice opens the device twice. Throws Error if one does not open, and UsageError if a backend has
/// none.
[[nodiscard]] std::vector<Device> open_each_chosen(const DeviceOptions& options,
                                                   const Config& config);
/// As open_chosen(), for commands that run their work on the device sequentially. Sets
/// CUDA_DEVICE_MAX_CONNECTIONS to 1 unless it is set: with a single connection NVIDIA's driver
/// opens the device faster, especially if several processes open it at the same time. Overlapping
/// work needs more connections.
[[nodiscard]] Device open_for_one_job(const DeviceOptions& options, const Config& config);

}  // namespace warpalign::program
