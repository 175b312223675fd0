// The C interface: devices.
#include "c_interface/call.hpp"

#include <warpalign/open_device.hpp>

#include <algorithm>
#include <cstring>
#include <vector>

namespace warpalign::c_interface {

namespace {

template <std::size_t size>
void copy_text(const std::string& text, char (&target)[size]) {
  const std::size_t length = std::min(text.size(), size - 1);
  std::memcpy(target, text.data(), length);
  std::memset(target + length, 0, size - length);
}

warpalign_device_kind kind_of(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::cpu:
      return WARPALIGN_CPU;
    case DeviceKind::gpu:
      return WARPALIGN_GPU;
    case DeviceKind::other:
      break;
  }
  return WARPALIGN_OTHER_DEVICE;
}

void describe(const DeviceInfo& info, warpalign_device_info& target) {
  copy_text(info.id, target.id);
  copy_text(info.backend, target.backend);
  copy_text(info.name, target.name);
  copy_text(info.platform, target.platform);
  copy_text(info.driver, target.driver);
  target.kind = kind_of(info.kind);
  target.memory_bytes = info.memory_bytes;
}

void list(warpalign_device_info* infos, std::size_t capacity, std::size_t& count) {
  if (capacity > 0) static_cast<void>(required(infos, "infos"));
  for (std::size_t i = 0; i < capacity; ++i) check_size(infos[i], "an element of infos");
  std::size_t found = 0;
  for (const BackendReport& report : list_backends()) {
    for (const DeviceInfo& info : report.devices) {
      if (found < capacity) describe(info, infos[found]);
      ++found;
    }
  }
  count = found;
}

}  // namespace

}  // namespace warpalign::c_interface

using namespace warpalign::c_interface;
using warpalign::Device;

warpalign_status warpalign_list_devices(warpalign_device_info* infos, size_t capacity,
                                        size_t* count) {
  return call([&] { list(infos, capacity, required(count, "count")); });
}

warpalign_status warpalign_open_device(const char* name, warpalign_device* device) {
  return call([&] {
    warpalign_device& target = required(device, "device");
    target.id = 0;
    auto opened = std::make_shared<Device>(warpalign::open_device(name != nullptr ? name : ""));
    target.id = handles<Device>().insert(std::move(opened));
  });
}

warpalign_status warpalign_describe_device(warpalign_device device, warpalign_device_info* info) {
  return call([&] {
    const auto opened = object_of<Device>(device.id, "the device is null or was closed");
    check_size(required(info, "info"), "info");
    describe(opened->info(), *info);
  });
}

warpalign_status warpalign_close_device(warpalign_device device) {
  return call([&] {
    if (!handles<Device>().remove(device.id)) {
      throw InvalidHandle{"the device is null or was closed"};
    }
  });
}
