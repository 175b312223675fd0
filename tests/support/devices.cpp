// The devices under test.
#include "support/devices.hpp"

#include <warpalign/error.hpp>
#include <warpalign/open_device.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <sstream>

namespace test {

namespace {

std::vector<warpalign::Device> open_named(const std::string& names) {
  std::vector<warpalign::Device> opened;
  std::istringstream stream(names);
  for (std::string name; std::getline(stream, name, ',');) {
    opened.push_back(warpalign::open_device(name));
  }
  return opened;
}

std::vector<warpalign::Device> open_all() {
  std::vector<warpalign::Device> opened;
  for (const auto& report : warpalign::list_backends()) {
    if (!report.available)
      std::printf("skipped: all cases on %s: %s\n", report.backend.c_str(), report.reason.c_str());
    for (const auto& info : report.devices) {
      try {
        opened.push_back(warpalign::open_device(info.id));
      } catch (const warpalign::Error& error) {
        std::printf("skipped: all cases on %s: %s\n", info.id.c_str(), error.what());
      }
    }
  }
  const auto is_pocl = [](const warpalign::Device& device) {
    return device.info().platform == "Portable Computing Language";
  };
  REQUIRE_MESSAGE(std::any_of(opened.begin(), opened.end(), is_pocl),
                  "PoCL is missing: install pocl-opencl-icd (script/bootstrap does)");
  return opened;
}

std::optional<std::vector<warpalign::Device>>& store() {
  static std::optional<std::vector<warpalign::Device>> opened;
  return opened;
}

}  // namespace

const std::vector<warpalign::Device>& devices() {
  if (!store()) {
    const char* names = std::getenv("WARPALIGN_TEST_DEVICES");
    store() = names != nullptr && *names != '\0' ? open_named(names) : open_all();
    for (const warpalign::Device& device : *store()) {
      const auto& info = device.info();
      std::printf("[device] %s: %s, %s, driver %s, FFT %s\n", info.id.c_str(), info.name.c_str(),
                  info.platform.c_str(), info.driver.c_str(), info.fft.c_str());
    }
    std::fflush(stdout);
  }
  REQUIRE_MESSAGE(!store()->empty(), "no device to test on");
  return *store();
}

void close_devices() { store().reset(); }

}  // namespace test
