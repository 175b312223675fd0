// The module's entry point: what core finds when it loads warpalign_opencl.
#include "device/device_list.hpp"
#include "device/driver.hpp"
#include "device/foreign.hpp"

#include <warpalign/backend/module.hpp>

#include <utility>

namespace warpalign::opencl {

namespace {

std::vector<DeviceInfo> infos() {
  std::vector<DeviceInfo> result;
  for (ListedDevice& device : list_devices()) result.push_back(std::move(device.info));
  return result;
}

std::unique_ptr<backend::Driver> open(std::size_t index,
                                      std::shared_ptr<const backend::Host> host) {
  const std::vector<ListedDevice> devices = list_devices();
  if (index >= devices.size()) {
    throw error(ErrorKind::device_unavailable,
                "there is no device opencl:" + std::to_string(index) +
                    "; the last one is opencl:" + std::to_string(devices.size() - 1),
                {"open", {}});
  }
  return std::make_unique<Driver>(devices[index].id, devices[index].info, std::move(host));
}

std::unique_ptr<backend::Driver> open_in_context(backend::NativeHandle context,
                                                 backend::NativeHandle device,
                                                 std::shared_ptr<const backend::Host> host) {
  auto* const callers = static_cast<cl_context>(context);
  auto* const id = static_cast<cl_device_id>(device);
  check_within(callers, id);
  return std::make_unique<Driver>(callers, id, describe_listed(id), std::move(host));
}

constexpr backend::ModuleTable table{backend::abi_number, "opencl", infos, open, open_in_context};

}  // namespace

}  // namespace warpalign::opencl

WARPALIGN_MODULE_EXPORT const warpalign::backend::ModuleTable* warpalign_backend_module() {
  return &warpalign::opencl::table;
}
