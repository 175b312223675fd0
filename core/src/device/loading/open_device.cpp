// Finding and opening devices.
#include <warpalign/open_device.hpp>

#include "device/access.hpp"
#include "device/config/device_name.hpp"
#include "device/loading/backend_loader.hpp"
#include "device/loading/host_services.hpp"

#include <warpalign/error.hpp>

#include <algorithm>
#include <cstdlib>

namespace warpalign {

namespace {

Device open_index(const detail::LoadedModule& module, std::size_t index, const Config& config) {
  auto state = std::make_shared<detail::DeviceState>();
  state->module = module.handle;
  state->driver = module.table->open(index, std::make_shared<detail::HostServices>(config));
  return detail::Access::make_device(std::move(state));
}

std::string described(const std::vector<DeviceInfo>& devices) {
  std::string text;
  for (const DeviceInfo& device : devices) {
    text +=
        (text.empty() ? "" : ", ") + device.id + " (" + device.name + ", " + device.platform + ")";
  }
  return text.empty() ? "none" : text;
}

// Returns the first device that opens; if none does, throws the error of the first candidate.
Device open_first(const detail::LoadedModule& module, const std::vector<std::size_t>& candidates,
                  const Config& config) {
  std::exception_ptr first;
  for (const std::size_t index : candidates) {
    try {
      return open_index(module, index, config);
    } catch (const Error&) {
      if (!first) first = std::current_exception();
    }
  }
  std::rethrow_exception(first);
}

Device open_named(const std::string& name, const Config& config) {
  const detail::DeviceName parsed = detail::parse_device_name(name, detail::backends_of(config));
  const detail::LoadedModule module = detail::load_module(parsed.backend, config);
  const std::vector<DeviceInfo> devices = module.table->list_devices();
  const std::vector<std::size_t> matches = detail::matching_devices(parsed, devices);
  if (matches.empty()) {
    throw Error(
        ErrorKind::device_unavailable,
        "there is no device '" + name + "'; " + parsed.backend + " offers: " + described(devices));
  }
  return open_first(module, matches, config);
}

// Why a backend cannot be used, for a message that names the backend elsewhere.
std::string reason_of(const Error& error) {
  const std::string& advice = error.context().advice;
  return error.message() + (advice.empty() ? "" : ". " + advice);
}

// Opens the first device of `backend` that works (with `gpus_only`, the first such GPU). Returns
// nothing if there is none, and appends the reasons for failure to `troubles`.
std::optional<Device> try_backend(const std::string& backend, bool gpus_only, const Config& config,
                                  std::string& troubles) {
  try {
    const detail::LoadedModule module = detail::load_module(backend, config);
    const std::vector<DeviceInfo> devices = module.table->list_devices();
    std::vector<std::size_t> candidates;
    for (std::size_t i = 0; i < devices.size(); ++i) {
      if (!gpus_only || devices[i].kind == DeviceKind::gpu) candidates.push_back(i);
    }
    if (candidates.empty()) return std::nullopt;
    return open_first(module, candidates, config);
  } catch (const Error& error) {
    const std::string trouble = "\n  " + backend + ": " + reason_of(error);
    if (troubles.find(trouble) == std::string::npos) troubles += trouble;
    return std::nullopt;
  }
}

Device open_best(const Config& config) {
  std::string troubles;
  for (const bool gpus_only : {true, false}) {
    for (const std::string& backend : detail::backends_of(config)) {
      if (auto device = try_backend(backend, gpus_only, config, troubles)) return *device;
    }
  }
  throw Error(ErrorKind::device_unavailable,
              "no device was found. Install an OpenCL driver (on Debian without a GPU: apt "
              "install pocl-opencl-icd) or NVIDIA's driver." +
                  troubles);
}

}  // namespace

Device open_device(const std::string& name, const Config& config) {
  if (!name.empty()) return open_named(name, config);
  if (const char* set = std::getenv("WARPALIGN_DEVICE"); set != nullptr && *set != '\0') {
    return open_named(set, config);
  }
  if (config.device) return open_named(*config.device, config);
  return open_best(config);
}

Device open_device(const std::string& name) { return open_device(name, default_config()); }

std::vector<BackendReport> list_backends(const Config& config) {
  std::vector<BackendReport> reports;
  for (const std::string& backend : detail::backends_of(config)) {
    BackendReport report;
    report.backend = backend;
    report.module = detail::module_file_name(backend);
    try {
      report.devices = detail::load_module(backend, config).table->list_devices();
      report.available = !report.devices.empty();
      if (!report.available) report.reason = "its module loads, but finds no device";
    } catch (const Error& error) {
      report.reason = reason_of(error);
    }
    reports.push_back(std::move(report));
  }
  return reports;
}

std::vector<BackendReport> list_backends() { return list_backends(default_config()); }

}  // namespace warpalign
