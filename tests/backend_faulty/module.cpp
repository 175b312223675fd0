// The module's entry point. It opens the module of the backend that WARPALIGN_FAULTY_BACKEND names
// ("opencl" by default) from its own folder, and wraps its devices.
#include "driver.hpp"

#include <warpalign/backend/module.hpp>
#include <warpalign/error.hpp>

#include <dlfcn.h>

#include <cstdlib>
#include <string>

namespace warpalign::faulty {

namespace {

std::string own_folder() {
  Dl_info info{};
  dladdr(reinterpret_cast<const void*>(&own_folder), &info);
  const std::string file = info.dli_fname;
  return file.substr(0, file.rfind('/') + 1);
}

const backend::ModuleTable& load_inner() {
  const char* named = std::getenv("WARPALIGN_FAULTY_BACKEND");
  const std::string name = named == nullptr || *named == '\0' ? "opencl" : named;
  const std::string file = own_folder() + "warpalign_" + name + ".so";
  void* module = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (module == nullptr) {
    throw Error(ErrorKind::device_unavailable, dlerror(), {.backend = "faulty"});
  }
  const auto entry =
      reinterpret_cast<backend::ModuleFunction>(dlsym(module, backend::module_symbol));
  return *entry();
}

const backend::ModuleTable& inner() {
  static const backend::ModuleTable& table = load_inner();
  return table;
}

std::vector<DeviceInfo> list_devices() {
  point("list devices", "open", ErrorKind::device_unavailable, nullptr);
  std::vector<DeviceInfo> devices = inner().list_devices();
  for (DeviceInfo& device : devices) device = renamed(std::move(device));
  return devices;
}

std::unique_ptr<backend::Driver> open(std::size_t index,
                                      std::shared_ptr<const backend::Host> host) {
  point("open", "open", ErrorKind::device_unavailable, nullptr);
  return std::make_unique<Driver>(inner().open(index, std::move(host)));
}

constexpr backend::ModuleTable table{backend::abi_number, "faulty", &list_devices, &open, nullptr};

}  // namespace

}  // namespace warpalign::faulty

WARPALIGN_MODULE_EXPORT const warpalign::backend::ModuleTable* warpalign_backend_module() {
  return &warpalign::faulty::table;
}
