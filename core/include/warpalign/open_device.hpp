// Finding and opening devices.
#pragma once

#include <warpalign/config.hpp>
#include <warpalign/device.hpp>
#include <warpalign/export.hpp>

#include <string>
#include <vector>

namespace warpalign {

/// Opens a device. The name comes from the first of these that is set: the argument, the
/// environment variable `WARPALIGN_DEVICE`, the key `device` of the configuration. If none is set,
/// opens the best device that works: CUDA, then OpenCL GPUs, then other OpenCL devices.
///
/// Names: `cuda`, `opencl` (the first device of the backend that works), `cuda:0`, `opencl:1` (by
/// index), `opencl:nvidia`, `opencl:pocl` (the first device whose platform or device name contains
/// the text, ignoring case).
///
/// The overload without a configuration uses default_config(), and throws as it does.
///
/// Throws Error(invalid_argument) for a malformed name, and Error(device_unavailable) if no device
/// matches or works; the message lists the available devices, and why a backend is missing.
[[nodiscard]] WARPALIGN_API Device open_device(const std::string& name, const Config& config);
[[nodiscard]] WARPALIGN_API Device open_device(const std::string& name = {});

/// What one backend offers on this machine.
struct BackendReport {
  std::string backend;              ///< "cuda" or "opencl"
  std::string module;               ///< the module's file name
  bool available = false;           ///< whether it loaded and has at least one device
  std::string reason;               ///< why it is not available; empty if it is
  std::vector<DeviceInfo> devices;  ///< its devices, not opened: `sampling` is not known yet
};

/// Lists the devices of all backends that the configuration names, or of those of this build if it
/// names none. Does not throw for a backend that is missing or broken, but reports the reason. The
/// overload without a configuration uses default_config(), and throws as it does.
[[nodiscard]] WARPALIGN_API std::vector<BackendReport> list_backends(const Config& config);
[[nodiscard]] WARPALIGN_API std::vector<BackendReport> list_backends();

}  // namespace warpalign
