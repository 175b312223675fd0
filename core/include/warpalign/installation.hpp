// A description of the installation, for diagnostic programs: the paths of the library, its
// modules, its kernel cache and its configuration. These functions open no device.
#pragma once

#include <warpalign/config.hpp>
#include <warpalign/export.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace warpalign {

/// The paths of an installation. The files need not exist.
struct Installation {
  std::filesystem::path library;        ///< the file of this library
  std::filesystem::path module_folder;  ///< the folder of the backend modules
  std::vector<std::string> backends;    ///< the backends to load, in order of preference
  int module_abi = 0;                   ///< the ABI version that modules must have
  std::filesystem::path cache_folder;   ///< compiled kernels; empty if no folder is usable
  std::filesystem::path config_file;    ///< the default configuration file of the user
};

/// The paths that the library uses with this configuration. Never throws Error, even if files do
/// not exist.
[[nodiscard]] WARPALIGN_API Installation describe_installation(const Config& config);

/// The module of one backend.
struct ModuleReport {
  std::string backend;         ///< "cuda" or "opencl"
  std::filesystem::path file;  ///< the path of the module
  bool exists = false;         ///< whether the file exists
  bool loads = false;          ///< whether it can be loaded, and is a module of warpalign
  int abi = 0;                 ///< its ABI version; 0 unless it loads
  std::string problem;         ///< why it cannot be used; empty if it can
};

/// Loads the module of a backend, which runs code of the libraries that it needs. Does not throw
/// for a problem, but reports it.
[[nodiscard]] WARPALIGN_API ModuleReport examine_module(const std::string& backend,
                                                        const Config& config);

/// Why the library could not store kernels that this process compiled: one or several reasons, or
/// an empty text if it stored all. The kernels still work, but later processes must compile them
/// again. Never throws Error.
[[nodiscard]] WARPALIGN_API std::string kernel_cache_problem();

}  // namespace warpalign
