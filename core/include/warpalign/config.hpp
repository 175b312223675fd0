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
  std::optional<std::string> device;                   ///< `device`: a name as for open_device
  std::optional<std::filesystem::path> module_folder;  ///< `modules`: folder of backend modules
  /// `backends`: names of modules, best first; when empty, those of the build. A backend that is
  /// not part of warpalign is loaded when it is named here.
  std::vector<std::string> backends;
  std::optional<std::filesystem::path> cache_folder;  ///< `cache`: folder of compiled kernels
  std::string opencl_fft = "auto";                    ///< `opencl.fft`: "auto", "vkfft", "clfft"
  std::filesystem::path origin;                       ///< the file read; empty if none
};

/// Reads a TOML file. Throws Error(configuration), which names file, line and key, for unreadable
/// files, syntax errors, unknown keys and wrong values.
[[nodiscard]] WARPALIGN_API Config read_config(const std::filesystem::path& file);

/// Reads `$XDG_CONFIG_HOME/warpalign/warpalign.toml` (`~/.config` when unset) if it exists, and
/// returns the defaults otherwise. A `warpalign.toml` in the current directory is never read
/// implicitly. Throws as read_config() does.
[[nodiscard]] WARPALIGN_API Config default_config();

}  // namespace warpalign
