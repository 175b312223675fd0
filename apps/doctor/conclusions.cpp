// Concludes what is wrong, what is only missing, and which packages provide it.
#include "doctor/checkup.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace warpalign::program::doctor {
namespace {

void conclude_configuration(Checkup& checkup) {
  if (checkup.config_problem.empty()) return;
  checkup.problems.push_back(
      {"the configuration is invalid, and every command will fail: " + checkup.config_problem, {}});
}

void conclude_drivers(Checkup& checkup) {
  for (const Icd& icd : checkup.drivers) {
    const std::string name = icd.file.file.empty() ? icd.file.library : icd.file.file;
    if (icd.crashed) {
      checkup.problems.push_back(
          {fmt::format("the OpenCL driver {} ({}): {}. It crashes every program that uses OpenCL: "
                       "repair or remove its package, move {} away, or set OCL_ICD_VENDORS to a "
                       "folder without it",
                       icd.file.library, name, icd.problem, name),
           {}});
    } else if (!icd.problem.empty()) {
      checkup.problems.push_back(
          {fmt::format("the OpenCL driver of {} is unusable: {}", name, icd.problem), {}});
    } else if (icd.platforms == 0) {
      checkup.notes.push_back(
          {fmt::format("the OpenCL driver {} offers no platform", icd.file.library), {}});
    }
  }
}

void conclude_backends(Checkup& checkup) {
  for (const Backend& backend : checkup.backends) {
    const std::string& name = backend.module.backend;
    if (!backend.module.problem.empty()) {
      auto& list = backend.module.exists ? checkup.problems : checkup.notes;
      list.push_back({fmt::format("backend {}: {}", name, backend.module.problem),
                      packages_for_module(name, backend.module.problem)});
    } else if (!backend.module.loads) {
      checkup.problems.push_back(
          {fmt::format("backend {}: its module cannot be loaded: {}", name, backend.problem), {}});
    } else if (backend.devices.empty()) {
      checkup.notes.push_back({fmt::format("backend {}: {}", name, backend.problem),
                               packages_for_devices(name, backend.problem)});
    } else if (!backend.problem.empty()) {
      checkup.problems.push_back({fmt::format("backend {}: {}", name, backend.problem), {}});
    }
  }
}

bool has_devices(const Checkup& checkup) {
  return std::any_of(checkup.backends.begin(), checkup.backends.end(),
                     [](const Backend& backend) { return !backend.devices.empty(); });
}

void conclude_devices(Checkup& checkup, const Request& request) {
  if (!has_devices(checkup)) {
    checkup.problems.push_back(
        {"there is no device that warpalign can use", opencl_driver_packages()});
  } else if (checkup.default_device.empty()) {
    checkup.problems.push_back(
        {"the default device cannot be opened: " + checkup.default_problem, {}});
  }
  if (!has_devices(checkup) && request.device.empty()) return;
  for (const TestedDevice& device : checkup.devices) {
    if (!device.problem.empty()) {
      checkup.problems.push_back({fmt::format("device {}: {}", device.id, device.problem), {}});
    }
    for (const TestResult& test : device.tests) {
      if (test.passed) continue;
      checkup.problems.push_back(
          {fmt::format("device {}: the test of {} failed: {}", device.id, test.name, test.detail),
           {}});
    }
  }
}

void conclude_cache(Checkup& checkup) {
  std::vector<std::string> reasons;
  const auto add = [&](const std::string& reason) {
    const bool known = std::find(reasons.begin(), reasons.end(), reason) != reasons.end();
    if (!reason.empty() && !known) reasons.push_back(reason);
  };
  for (const TestedDevice& device : checkup.devices) add(device.cache_problem);
  if (reasons.empty()) add(checkup.cache.problem);
  for (const std::string& reason : reasons) {
    checkup.problems.push_back(
        {fmt::format(
             "compiled kernels are not kept: {}. Everything works without a cache, but each "
             "process compiles its OpenCL kernels again. Choose another folder with the "
             "configuration's key 'cache', and for PoCL with the environment variable "
             "POCL_CACHE_DIR",
             reason),
         {}});
  }
}

}  // namespace

void conclude(Checkup& checkup, const Request& request) {
  conclude_configuration(checkup);
  conclude_drivers(checkup);
  conclude_backends(checkup);
  conclude_devices(checkup, request);
  conclude_cache(checkup);
}

}  // namespace warpalign::program::doctor
