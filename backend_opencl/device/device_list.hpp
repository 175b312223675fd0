// The OpenCL devices of this machine.
#pragma once

#include "device/errors.hpp"

#include <warpalign/device.hpp>

#include <CL/cl.h>

#include <vector>

namespace warpalign::opencl {

struct ListedDevice {
  cl_device_id id = nullptr;
  DeviceInfo info;
};

/// Every device of every platform that responds, GPUs first and CPUs last. If there is none, throws
/// Error(device_unavailable) with the reason and with what to install.
[[nodiscard]] std::vector<ListedDevice> list_devices();

/// Describes a device that the caller found: the entry of the list, or, for a sub-device of a
/// listed device, its own properties under the id of the whole device.
[[nodiscard]] DeviceInfo describe_listed(cl_device_id device);

/// A text property of a device, without trailing blanks. Throws Error(device_failure).
[[nodiscard]] std::string device_text(cl_device_id device, cl_device_info what);

/// A numeric property or flag of a device. Throws Error(device_failure), so that an unknown limit
/// is never taken for 0.
template <class T>
[[nodiscard]] T device_value(cl_device_id device, cl_device_info what) {
  T value{};
  check(clGetDeviceInfo(device, what, sizeof value, &value, nullptr), "clGetDeviceInfo",
        {"device", {}});
  return value;
}

}  // namespace warpalign::opencl
