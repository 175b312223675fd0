// The configuration file.
#pragma once

#include <warpalign/export.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace warpalign {

/// What a configuration file can say. Everything is optional.
struct Config {
  std::optional<std::string> device;                   ///< `device`: as open_device takes it
  std::optional<std::filesystem::path> module_folder;  ///< `modules`: where backends are
  /// `backends`: names of modules, best first; those of the build when empty. A backend that is not
  /// warpalign's own is loaded when it is named here.
  std::vector<std::string> backends;
  std::optional<std::filesystem::path> cache_folder;  ///< `cache`: compiled kernels
  std::string opencl_fft = "vkfft";                   ///< `opencl.fft`: "vkfft" or "clfft"
  std::filesystem::path origin;                       ///< the file read; empty if none
};

/// Reads a TOML file. Throws Error(configuration) naming file, line and key for unreadable
/// files, syntax errors, unknown keys and wrong values.
[[nodiscard]] WARPALIGN_API Config read_config(const std::filesystem::path& file);

/// Reads `$XDG_CONFIG_HOME/warpalign/warpalign.toml` (`~/.config` when unset) where it exists;
/// defaults otherwise. A `warpalign.toml` in the current directory is never read unasked.
[[nodiscard]] WARPALIGN_API Config default_config();

}  // namespace warpalign
