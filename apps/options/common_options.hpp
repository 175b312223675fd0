// The options that many commands share: which device, whose configuration, where files go.
#pragma once

#include <warpalign/open_device.hpp>

#include <optional>
#include <string>

namespace CLI {
class App;
}

namespace warpalign::program {

/// As they were typed.
struct DeviceOptions {
  std::string device;
  std::optional<std::string> config;
};

/// What a shell offers for a device.
extern const char* const device_names;

/// Adds --device and --config.
void add_device_options(CLI::App& command, DeviceOptions& options);
/// Adds --config alone.
void add_config_option(CLI::App& command, std::optional<std::string>& path);
/// Adds --output-folder; the folder's current value is the default.
void add_folder_option(CLI::App& command, std::string& folder);

/// The configuration in this file, or the user's own. Throws Error for an invalid file.
[[nodiscard]] Config config_of(const std::optional<std::string>& path);
/// The device that they name, or else the best one. Throws Error where it does not open.
[[nodiscard]] Device open_chosen(const DeviceOptions& options, const Config& config);
/// The same for commands that do one thing after another on it. NVIDIA's driver is asked for one
/// connection to the GPU, where CUDA_DEVICE_MAX_CONNECTIONS does not say how many: it opens the
/// device sooner, the more so where several processes open it at the same time. Work that is to
/// overlap needs more.
[[nodiscard]] Device open_for_one_job(const DeviceOptions& options, const Config& config);

}  // namespace warpalign::program
