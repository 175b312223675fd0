// The folder in which compiled kernels are kept.
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

/// Tries to write a small file in the folder, or in the nearest one above it that exists, and
/// removes it again.
[[nodiscard]] KernelCache examine_kernel_cache(const std::filesystem::path& folder);

}  // namespace warpalign::program::doctor
