// What is installed, for programs that report to people: where the library, its modules, its kernel
// cache and its configuration are. Nothing here opens a device.
#pragma once

#include <warpalign/config.hpp>
#include <warpalign/export.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace warpalign {

/// Where the parts of this installation are.
struct Installation {
  std::filesystem::path library;        ///< the file of this library
  std::filesystem::path module_folder;  ///< where backend modules are looked for
  std::vector<std::string> backends;    ///< those that are looked for, best first
  int module_abi = 0;  ///< the number of the interface that modules must be built for
  std::filesystem::path cache_folder;  ///< of compiled kernels; empty if there is no place for one
  std::filesystem::path config_file;   ///< the user's; it need not exist, and may not be in use
};

/// Where everything is, or would be, under this configuration. Throws no Error: what is not there
/// is described all the same.
[[nodiscard]] WARPALIGN_API Installation describe_installation(const Config& config);

/// The module of one backend.
struct ModuleReport {
  std::string backend;         ///< "cuda" or "opencl"
  std::filesystem::path file;  ///< where it is looked for
  bool exists = false;         ///< whether there is a file
  bool loads = false;          ///< whether it can be loaded, and is a module of warpalign
  int abi = 0;                 ///< the interface that it was built for; 0 unless it loads
  std::string problem;         ///< why it cannot be used; empty if it can
};

/// Loads the module, which runs code of the libraries that it needs. What is wrong is reported; it
/// does not throw.
[[nodiscard]] WARPALIGN_API ModuleReport examine_module(const std::string& backend,
                                                        const Config& config);

/// Why something that was compiled in this process was not kept on disk: one reason or several;
/// empty if all was kept. Everything works nevertheless, but later processes compile again. Throws
/// no Error.
[[nodiscard]] WARPALIGN_API std::string kernel_cache_problem();

}  // namespace warpalign
