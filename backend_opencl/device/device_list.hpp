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

/// A device that the caller has found itself: as it is listed, or, for a part of a listed device,
/// by its own properties under the whole device's id.
[[nodiscard]] DeviceInfo describe_listed(cl_device_id device);

/// A text property of a device, without trailing blanks. Throws Error(device_failure).
[[nodiscard]] std::string device_text(cl_device_id device, cl_device_info what);

/// A numeric property or flag of a device. Throws Error(device_failure): a limit that is not known
/// must not be taken for 0.
template <class T>
[[nodiscard]] T device_value(cl_device_id device, cl_device_info what) {
  T value{};
  check(clGetDeviceInfo(device, what, sizeof value, &value, nullptr), "clGetDeviceInfo",
        {"device", {}});
  return value;
}

}  // namespace warpalign::opencl
