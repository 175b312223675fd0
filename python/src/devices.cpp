// Lists devices, and opens them.
#include "bindings.hpp"
#include "opened_device.hpp"

#include <warpalign/interop.hpp>
#include <warpalign/open_device.hpp>

#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <memory>
#include <string>

namespace nb = nanobind;

namespace warpalign::python {
namespace {

std::string repr(const char* type, const DeviceInfo& info) {
  return std::string("<warpalign.") + type + " " + info.id + ": " + info.name + ">";
}

void bind_info(nb::module_& module) {
  nb::class_<DeviceInfo>(module, "DeviceInfo",
                         "Properties of a device, as :func:`warpalign.devices` lists them.")
      .def_ro("id", &DeviceInfo::id, "Name that opens it, such as ``'opencl:0'``.")
      .def_ro("backend", &DeviceInfo::backend, "``'cuda'`` or ``'opencl'``.")
      .def_ro("name", &DeviceInfo::name, "The device's own name.")
      .def_ro("platform", &DeviceInfo::platform, "Name of the OpenCL platform, or CUDA's.")
      .def_ro("driver", &DeviceInfo::driver, "Version of the driver.")
      .def_prop_ro(
          "kind", [](const DeviceInfo& info) { return name_of(info.kind); },
          "``'cpu'``, ``'gpu'`` or ``'other'``.")
      .def_ro("memory_bytes", &DeviceInfo::memory_bytes, "Global memory in bytes.")
      .def_ro("double_precision", &DeviceInfo::double_precision,
              "Whether the device can compute in double precision.")
      .def("__repr__", [](const DeviceInfo& info) { return repr("DeviceInfo", info); });
}

void bind_report(nb::module_& module) {
  nb::class_<BackendReport>(module, "Backend",
                            "A backend and its devices, as :func:`warpalign.backends` lists them.")
      .def_ro("name", &BackendReport::backend, "``'cuda'`` or ``'opencl'``.")
      .def_ro("module", &BackendReport::module, "File name of the backend's module.")
      .def_ro("available", &BackendReport::available,
              "Whether its module was loaded and found a device.")
      .def_ro("reason", &BackendReport::reason, "The reason why it is not available.")
      .def_ro("devices", &BackendReport::devices, "Its devices (list of DeviceInfo).")
      .def("__repr__", [](const BackendReport& report) {
        return "<warpalign.Backend " + report.backend + ": " +
               (report.available ? std::to_string(report.devices.size()) + " devices"
                                 : "not available, " + report.reason) +
               ">";
      });
}

void open(OpenedDevice* self, const std::string& name) {
  const nb::gil_scoped_release released;
  new (self) OpenedDevice(open_device(name));
}

void bind_device(nb::module_& module) {
  const auto info = [](const OpenedDevice& self) -> const DeviceInfo& {
    return self.device.info();
  };
  nb::class_<OpenedDevice>(
      module, "Device",
      "An opened device.\n\n"
      "Parameters\n----------\n"
      "name : str, optional\n"
      "    ``'cuda'``, ``'opencl'``, ``'cuda:0'``, ``'opencl:1'``, or a part of the name of a\n"
      "    platform or device, such as ``'opencl:nvidia'``. By default, the environment variable\n"
      "    ``WARPALIGN_DEVICE`` or the configuration file names the device; if neither does, the\n"
      "    best device is opened.\n\n"
      "Raises\n------\n"
      "DeviceUnavailableError\n"
      "    There is no such device. The message lists the available ones.\n"
      "ValueError\n"
      "    The name is malformed.\n\n"
      "Notes\n-----\n"
      "Several threads may use a device at once. It is closed when its last user is destroyed.\n"
      ":mod:`warpalign.ndimage` keeps plans and memory on it for calls with the same shapes.\n")
      .def("__init__", &open, nb::arg("name") = "")
      .def_prop_ro("info", info, nb::rv_policy::reference_internal, "Its properties (DeviceInfo).")
      .def_prop_ro(
          "id", [](const OpenedDevice& self) { return self.device.info().id; },
          "Name that opens it, such as ``'opencl:0'``.")
      .def_prop_ro(
          "fft", [](const OpenedDevice& self) { return self.device.info().fft; },
          "Name of the FFT library in use.")
      .def(
          "release_memory",
          [](OpenedDevice& self) {
            const nb::gil_scoped_release released;
            self.release_plans();
          },
          "Free the plans and memory that :mod:`warpalign.ndimage` keeps on the device.")
      .def_prop_ro(
          "kept_plans", [](OpenedDevice& self) { return self.kept_plans(); },
          "Number of plans that :mod:`warpalign.ndimage` keeps on the device.")
      .def("__repr__", [](const OpenedDevice& self) { return repr("Device", self.device.info()); });
}

}  // namespace

void bind_devices(nb::module_& module) {
  bind_info(module);
  bind_report(module);
  bind_device(module);
  module.def(
      "open_in_context",
      [](const std::string& backend, std::uintptr_t context, std::uintptr_t device) {
        const nb::gil_scoped_release released;
        return std::make_unique<OpenedDevice>(
            interop::open_in_context(backend, reinterpret_cast<void*>(context),
                                     reinterpret_cast<void*>(device), default_config()));
      },
      nb::arg("backend"), nb::arg("context"), nb::arg("device"),
      "Open a device within the caller's context.");
  module.def(
      "backends",
      [] {
        const nb::gil_scoped_release released;
        return list_backends();
      },
      "List the backends and their devices.\n\n"
      "Returns\n-------\n"
      "list of Backend\n");
}

}  // namespace warpalign::python
