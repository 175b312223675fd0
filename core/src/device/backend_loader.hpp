// Loading backend modules by exact name from one folder.
#pragma once

#include <warpalign/backend/module.hpp>

#include <array>
#include <filesystem>
#include <memory>
#include <string>

namespace warpalign::detail {

/// Best first.
inline constexpr std::array<const char*, 2> known_backends{"cuda", "opencl"};

/// A loaded module. Keep `handle` as long as anything of the module lives.
struct LoadedModule {
  std::shared_ptr<void> handle;
  const backend::ModuleTable* table = nullptr;
};

/// "warpalign_cuda.so", ...
std::string module_file_name(const std::string& backend);

/// Throws Error(device_unavailable) saying what is missing: the file, a library it needs, its
/// entry point, or the right ABI number.
LoadedModule load_module(const std::string& backend, const Config& config);

}  // namespace warpalign::detail
