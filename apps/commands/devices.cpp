// `warpalign devices`: lists the devices and the default device.
#include "commands/commands.hpp"
#include "doctor/packages.hpp"
#include "options/command_line.hpp"
#include "options/common_options.hpp"
#include "reports/json.hpp"

#include <warpalign/error.hpp>
#include <warpalign/open_device.hpp>

#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <optional>

namespace warpalign::program {
namespace {

struct Options {
  std::optional<std::string> config;
  bool json = false;
};

/// The default device, or the reason why none can be opened.
struct Default {
  std::optional<DeviceInfo> device;
  std::string error;
};

Default open_default(const Config& config) {
  try {
    return {open_device("", config).info(), ""};
  } catch (const Error& error) {
    return {std::nullopt, error.what()};
  }
}

bool is_default(const Default& chosen, const DeviceInfo& device) {
  return chosen.device && chosen.device->id == device.id;
}

Json device_json(const DeviceInfo& listed, const Default& chosen) {
  Json object;
  object["id"] = listed.id;
  object["name"] = listed.name;
  object["platform"] = listed.platform;
  object["driver"] = listed.driver;
  object["kind"] = name_of(listed.kind);
  object["memory_bytes"] = listed.memory_bytes;
  object["max_allocation_bytes"] = listed.max_allocation_bytes;
  object["default"] = is_default(chosen, listed);
  if (is_default(chosen, listed)) {
    object["sampling"] = name_of(chosen.device->sampling);
    object["sampling_reason"] = chosen.device->sampling_reason;
    object["fft"] = chosen.device->fft;
  }
  return object;
}

std::string json_text(const std::vector<BackendReport>& backends, const Default& chosen) {
  Json object;
  object["default"] = chosen.device ? Json(chosen.device->id) : Json(nullptr);
  object["default_error"] = chosen.error;
  object["backends"] = Json::array();
  for (const BackendReport& backend : backends) {
    Json devices = Json::array();
    for (const DeviceInfo& device : backend.devices) devices.push_back(device_json(device, chosen));
    object["backends"].push_back(Json::object({{"backend", backend.backend},
                                               {"module", backend.module},
                                               {"available", backend.available},
                                               {"reason", backend.reason},
                                               {"devices", devices}}));
  }
  return object.text();
}

std::string device_lines(const DeviceInfo& device, const Default& chosen) {
  constexpr double gibibyte = 1024.0 * 1024.0 * 1024.0;
  std::string text = fmt::format(
      "{} {:<10} {}\n             {}, {}, {:.1f} GiB, driver {}\n",
      is_default(chosen, device) ? " *" : "  ", device.id, device.name, device.platform,
      name_of(device.kind), static_cast<double>(device.memory_bytes) / gibibyte, device.driver);
  if (is_default(chosen, device)) {
    const DeviceInfo& open = *chosen.device;
    text += fmt::format("             sampling: {}{}, FFT: {}\n", name_of(open.sampling),
                        open.sampling_reason.empty() ? "" : " (" + open.sampling_reason + ")",
                        open.fft);
  }
  return text;
}

/// Why a backend is unavailable, and which packages provide what it lacks.
std::string reason_lines(const BackendReport& backend) {
  std::string text = fmt::format("   not available: {}\n", backend.reason);
  if (backend.reason.find("libwarpalign-") != std::string::npos)
    return text;  // the reason names the package
  const bool loads = backend.reason.find("module") == std::string::npos;
  const auto packages = loads ? doctor::packages_for_devices(backend.backend, backend.reason)
                              : doctor::packages_for_module(backend.backend, backend.reason);
  if (!packages.debian.empty()) text += fmt::format("      Debian: {}\n", packages.debian);
  if (!packages.fedora.empty()) text += fmt::format("      Fedora: {}\n", packages.fedora);
  if (!packages.elsewhere.empty()) text += fmt::format("      {}\n", packages.elsewhere);
  return text;
}

std::string human_text(const std::vector<BackendReport>& backends, const Default& chosen) {
  std::string text;
  for (const BackendReport& backend : backends) {
    text += backend.backend + "\n";
    if (!backend.available) text += reason_lines(backend);
    for (const DeviceInfo& device : backend.devices) text += device_lines(device, chosen);
  }
  text += chosen.device ? "\n * is used when no device is named\n"
                        : fmt::format("\nNo device is opened by default: {}\n",
                                      chosen.error.substr(0, chosen.error.find('\n')));
  return text;
}

ExitStatus run(const Options& options) {
  const Config config = config_of(options.config);
  const std::vector<BackendReport> backends = list_backends(config);
  const Default chosen = open_default(config);
  fmt::print("{}", options.json ? json_text(backends, chosen) : human_text(backends, chosen));
  return ExitStatus::ok;
}

constexpr const char* footer =
    "The default is the best device of this machine, unless the environment variable\n"
    "WARPALIGN_DEVICE or the configuration file names another one.\n"
    "\n"
    "Examples:\n"
    "  warpalign devices\n"
    "  WARPALIGN_DEVICE=opencl warpalign devices --json\n";

}  // namespace

void add_devices_command(CLI::App& program, Action& chosen) {
  CLI::App& command = add_command(
      program, "devices", "List the devices of this machine and the default", "This machine");
  auto options = std::make_shared<Options>();
  add_config_option(command, options->config);
  add_json_option(command, options->json);
  set_footer(command, footer);
  set_action(command, chosen, [options] { return run(*options); });
}

}  // namespace warpalign::program
