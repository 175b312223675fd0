// The entry points of a backend module.
//
// A module is a shared object next to the library, named `warpalign_<backend>` (with the platform's
// suffix and without the prefix `lib`). It exports one C symbol, `warpalign_backend_module`, a
// function that returns a static table.
#pragma once

#include <warpalign/backend/driver.hpp>
#include <warpalign/backend/host.hpp>

#include <memory>
#include <vector>

namespace warpalign::backend {

/// Changes whenever the layout of anything in warpalign/backend/, or of a type used there, changes.
inline constexpr int abi_number = 42;

struct ModuleTable {
  int abi = abi_number;
  const char* name = nullptr;  ///< "cuda", "opencl"

  /// The available devices, best first. The order is the backend's own numbering: index i is the
  /// device `name:i`. Throws Error(device_unavailable) with the reason if the backend's runtime is
  /// missing.
  std::vector<DeviceInfo> (*list_devices)() = nullptr;

  /// Opens device `index` of list_devices(). Throws Error on failure.
  std::unique_ptr<Driver> (*open)(std::size_t index, std::shared_ptr<const Host> host) = nullptr;

  /// Opens a device in a context that the caller created. Null if the vendor's API has no such
  /// contexts. Throws Error(invalid_argument) if the device does not belong to the context.
  std::unique_ptr<Driver> (*open_in_context)(NativeHandle context, NativeHandle device,
                                             std::shared_ptr<const Host> host) = nullptr;
};

inline constexpr const char* module_symbol = "warpalign_backend_module";
using ModuleFunction = const ModuleTable* (*)();

}  // namespace warpalign::backend

#if defined(_WIN32)
#define WARPALIGN_MODULE_EXPORT extern "C" __declspec(dllexport)
#else
#define WARPALIGN_MODULE_EXPORT extern "C" __attribute__((visibility("default")))
#endif
