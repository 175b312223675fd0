// Finding and opening devices.
#pragma once

#include <warpalign/config.hpp>
#include <warpalign/device.hpp>
#include <warpalign/export.hpp>

#include <string>
#include <vector>

namespace warpalign {

/// Opens a device. The name is taken from the first of these that is set: the argument, the
/// environment variable `WARPALIGN_DEVICE`, `device` in the configuration. When none is set, the
/// best device that works is opened (CUDA, then OpenCL GPUs, then other OpenCL devices).
///
/// Names: `cuda`, `opencl` (that backend's first device that works), `cuda:0`, `opencl:1` (an
/// index), `opencl:nvidia`, `opencl:pocl` (a case-insensitive part of the platform's or device's
/// name; the first match).
///
/// Without a configuration it is the user's, as default_config() reads it.
///
/// Throws Error(device_unavailable), which says what was looked for, what is available, and why a
/// backend is missing; Error(invalid_argument) for a malformed name.
[[nodiscard]] WARPALIGN_API Device open_device(const std::string& name, const Config& config);
[[nodiscard]] WARPALIGN_API Device open_device(const std::string& name = {});

/// What one backend offers on this machine.
struct BackendReport {
  std::string backend;              ///< "cuda" or "opencl"
  std::string module;               ///< the module's file name
  bool available = false;           ///< whether it loaded and has at least one device
  std::string reason;               ///< why it is not available, in words
  std::vector<DeviceInfo> devices;  ///< without opening them: `sampling` is not yet known
};

/// All backends that the configuration names, or else those of this build, with their devices. A
/// backend that is missing or broken is reported as such; it does not throw. Without a
/// configuration it is the user's, which default_config() reads, and throws for.
[[nodiscard]] WARPALIGN_API std::vector<BackendReport> list_backends(const Config& config);
[[nodiscard]] WARPALIGN_API std::vector<BackendReport> list_backends();

}  // namespace warpalign
