// Checks the folder of compiled kernels.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace warpalign::program::doctor {

struct KernelCache {
  std::filesystem::path folder;
  bool exists = false;
  std::uint64_t entries = 0;
  std::uint64_t bytes = 0;
  bool writable = false;
  std::string problem;  ///< why not; empty if it is
};

/// Writes a small file to the folder, or to its nearest existing parent, and removes it again.
[[nodiscard]] KernelCache examine_kernel_cache(const std::filesystem::path& folder);

}  // namespace warpalign::program::doctor
