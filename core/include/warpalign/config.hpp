// The configuration file.
#pragma once

#include <warpalign/export.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace warpalign {

/// The contents of a configuration file. Every key is optional.
struct Config {
  std::optional<std::string> device;                   ///< `device`: a name for open_device()
  std::optional<std::filesystem::path> module_folder;  ///< `modules`: folder of backend modules
  /// `backends`: names of backends in order of preference. If empty, those of the build. A backend
  /// that is not part of warpalign is loaded only if this list names it.
  std::vector<std::string> backends;
  std::optional<std::filesystem::path> cache_folder;  ///< `cache`: folder of compiled kernels
  std::string opencl_fft = "auto";                    ///< `opencl.fft`: "auto", "vkfft", "clfft"
  std::filesystem::path origin;                       ///< the configuration file; empty if none
};

/// Reads a TOML file. Throws Error(configuration) for an unreadable file, a syntax error, an
/// unknown key or a wrong value; the message contains the file, line and key.
[[nodiscard]] WARPALIGN_API Config read_config(const std::filesystem::path& file);

/// Reads `$XDG_CONFIG_HOME/warpalign/warpalign.toml` (`~/.config` if the variable is unset) if it
/// exists, and returns the defaults otherwise. It never reads a `warpalign.toml` in the current
/// directory. Throws as read_config() does.
[[nodiscard]] WARPALIGN_API Config default_config();

}  // namespace warpalign
