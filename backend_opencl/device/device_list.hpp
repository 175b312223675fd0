// The OpenCL devices of this machine.
#pragma once

#include <warpalign/device.hpp>

#include <CL/cl.h>

#include <vector>

namespace warpalign::opencl {

struct ListedDevice {
  cl_device_id id = nullptr;
  DeviceInfo info;
};

/// Every device of every platform that answers, GPUs first and CPUs last. Throws
/// Error(device_unavailable) when there is none, with the reason and what to install.
[[nodiscard]] std::vector<ListedDevice> list_devices();

/// A text property of a device, without trailing blanks; empty if it does not say.
[[nodiscard]] std::string device_text(cl_device_id device, cl_device_info what);

/// A number or flag of a device; 0 if it does not say.
template <class T>
[[nodiscard]] T device_value(cl_device_id device, cl_device_info what) {
  T value{};
  if (clGetDeviceInfo(device, what, sizeof value, &value, nullptr) != CL_SUCCESS) return T{};
  return value;
}

}  // namespace warpalign::opencl
