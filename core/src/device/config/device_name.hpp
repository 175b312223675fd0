// The names of devices for open_device().
#pragma once

#include <warpalign/device.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace warpalign::detail {

/// A parsed name: `backend`, `backend:index` or `backend:part of a name`.
struct DeviceName {
  std::string backend;
  std::optional<std::size_t> index;
  std::string part;
};

/// Throws Error(invalid_argument) for malformed names and for backends not among `backends`.
DeviceName parse_device_name(const std::string& name, const std::vector<std::string>& backends);

/// The indices of the devices that match the name, in order.
std::vector<std::size_t> matching_devices(const DeviceName& name,
                                          const std::vector<DeviceInfo>& devices);

}  // namespace warpalign::detail
