// Lists the devices of every platform. A platform that fails is skipped; that is not an error.
#include "device/device_list.hpp"

#include "device/errors.hpp"
#include "device/pocl_cache.hpp"
#include "loader/loader.hpp"

#include <algorithm>
#include <string>

namespace warpalign::opencl {

namespace {

std::string trimmed(std::string text) {
  const auto end = text.find_last_not_of(std::string(" \t\n\0", 4));
  text.erase(end == std::string::npos ? 0 : end + 1);
  text.erase(0, text.find_first_not_of(" \t"));
  return text;
}

std::string platform_name(cl_platform_id platform) {
  std::size_t size = 0;
  if (clGetPlatformInfo(platform, CL_PLATFORM_NAME, 0, nullptr, &size) != CL_SUCCESS) return {};
  std::string text(size, '\0');
  if (clGetPlatformInfo(platform, CL_PLATFORM_NAME, size, text.data(), nullptr) != CL_SUCCESS) {
    return {};
  }
  return trimmed(text);
}

[[noreturn]] void throw_none(const std::string& why) {
  throw error(ErrorKind::device_unavailable, why, {"devices", {}},
              "install your GPU's OpenCL driver (for example nvidia-opencl-icd, "
              "intel-opencl-icd or mesa-opencl-icd), or pocl-opencl-icd to run on the CPU; "
              "`clinfo -l` lists what OpenCL sees");
}

std::vector<cl_platform_id> find_platforms() {
  cl_uint count = 0;
  provide_pocl_cache();
  if (const std::string problem = opencl_library_problem(); !problem.empty()) throw_none(problem);
  const cl_int status = clGetPlatformIDs(0, nullptr, &count);
  if (status != CL_SUCCESS || count == 0) {
    throw_none("there is no OpenCL platform on this machine" +
               (status == CL_SUCCESS ? std::string() : " (" + code_name(status) + ")"));
  }
  std::vector<cl_platform_id> platforms(count);
  check(clGetPlatformIDs(count, platforms.data(), nullptr), "clGetPlatformIDs", {"devices", {}});
  return platforms;
}

DeviceKind kind_of(cl_device_type type) {
  if ((type & CL_DEVICE_TYPE_GPU) != 0) return DeviceKind::gpu;
  if ((type & CL_DEVICE_TYPE_CPU) != 0) return DeviceKind::cpu;
  return DeviceKind::other;
}

ListedDevice describe(cl_device_id device, const std::string& platform) {
  DeviceInfo info;
  info.backend = "opencl";
  info.name = device_text(device, CL_DEVICE_NAME);
  info.platform = platform;
  info.driver = device_text(device, CL_DRIVER_VERSION);
  info.kind = kind_of(device_value<cl_device_type>(device, CL_DEVICE_TYPE));
  info.memory_bytes = device_value<cl_ulong>(device, CL_DEVICE_GLOBAL_MEM_SIZE);
  info.max_allocation_bytes = device_value<cl_ulong>(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
  info.double_precision =
      device_value<cl_device_fp_config>(device, CL_DEVICE_DOUBLE_FP_CONFIG) != 0;
  return {device, info};
}

/// Appends a platform's devices. Returns why there are none, or an empty string.
std::string append_devices(cl_platform_id platform, std::vector<ListedDevice>& all) {
  const std::string name = platform_name(platform);
  cl_uint count = 0;
  cl_int status = clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count);
  std::vector<cl_device_id> devices(count);
  if (status == CL_SUCCESS && count > 0) {
    status = clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, devices.data(), nullptr);
  }
  if (status != CL_SUCCESS) return name + ": " + code_name(status);
  try {
    for (const cl_device_id device : devices) all.push_back(describe(device, name));
  } catch (const Error& failure) {
    return name + ": " + failure.context().call + " returned " + failure.context().code;
  }
  return count > 0 ? std::string() : name + ": no device";
}

/// Null for a whole device, and for devices of OpenCL 1.1, which has no sub-devices.
cl_device_id parent_of(cl_device_id device) {
  cl_device_id parent = nullptr;
  const cl_int status =
      clGetDeviceInfo(device, CL_DEVICE_PARENT_DEVICE, sizeof(cl_device_id), &parent, nullptr);
  return status == CL_SUCCESS ? parent : nullptr;
}

int rank(DeviceKind kind) {
  if (kind == DeviceKind::gpu) return 0;
  return kind == DeviceKind::other ? 1 : 2;
}

}  // namespace

std::string device_text(cl_device_id device, cl_device_info what) {
  const CallSite site{"device", {}};
  std::size_t size = 0;
  check(clGetDeviceInfo(device, what, 0, nullptr, &size), "clGetDeviceInfo", site);
  std::string text(size, '\0');
  check(clGetDeviceInfo(device, what, size, text.data(), nullptr), "clGetDeviceInfo", site);
  return trimmed(text);
}

std::vector<ListedDevice> list_devices() {
  std::vector<ListedDevice> all;
  std::string reasons;
  for (const cl_platform_id platform : find_platforms()) {
    const std::string reason = append_devices(platform, all);
    if (!reason.empty()) reasons += (reasons.empty() ? "" : "; ") + reason;
  }
  if (all.empty()) throw_none("no OpenCL platform offers a device (" + reasons + ")");
  std::stable_sort(all.begin(), all.end(), [](const ListedDevice& a, const ListedDevice& b) {
    return rank(a.info.kind) < rank(b.info.kind);
  });
  for (std::size_t i = 0; i < all.size(); ++i) all[i].info.id = "opencl:" + std::to_string(i);
  return all;
}

DeviceInfo describe_listed(cl_device_id device) {
  cl_device_id whole = device;
  while (const cl_device_id parent = parent_of(whole)) whole = parent;
  for (const ListedDevice& listed : list_devices()) {
    if (listed.id != whole) continue;
    DeviceInfo info = describe(device, listed.info.platform).info;
    info.id = listed.info.id;
    return info;
  }
  throw error(ErrorKind::device_unavailable, "OpenCL does not list this device in this process",
              {"open", {}}, "use the same OpenCL loader in the program and in warpalign");
}

}  // namespace warpalign::opencl
