// The probes: the part of the doctor that may crash.
#include "doctor/probes.hpp"

#include "doctor/probe_process.hpp"
#include "doctor/self_tests.hpp"
#include "io/usage_error.hpp"

#include <warpalign/error.hpp>
#include <warpalign/installation.hpp>
#include <warpalign/open_device.hpp>

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <chrono>
#include <cstdint>
#include <set>
#include <string_view>

namespace warpalign::program::doctor {
namespace {

std::string loader_error() {
  const char* text = ::dlerror();
  return text == nullptr ? "unknown reason" : text;
}

/// The file from which a library was loaded.
std::string origin_of(void* library) {
  struct link_map* map = nullptr;
  if (::dlinfo(library, RTLD_DI_LINKMAP, &map) != 0 || map == nullptr) return {};
  return map->l_name;
}

void* open_library(const std::string& file) {
  void* library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    say_line({"problem", loader_error()});
  } else {
    say_line({"file", origin_of(library)});
  }
  return library;
}

// From the OpenCL specification, cl_khr_icd: the functions that a loader calls in every driver.
using ListPlatforms = std::int32_t (*)(std::uint32_t, void*, std::uint32_t*);
using FindFunction = void* (*)(const char*);

void probe_icd(const std::string& file) {
  void* library = open_library(file);
  if (library == nullptr) return;
  const auto find =
      reinterpret_cast<FindFunction>(::dlsym(library, "clGetExtensionFunctionAddress"));
  if (find == nullptr) {
    say_line({"problem", "is no OpenCL driver: it has no clGetExtensionFunctionAddress"});
    return;
  }
  const auto list = reinterpret_cast<ListPlatforms>(find("clIcdGetPlatformIDsKHR"));
  if (list == nullptr) {
    say_line({"problem", "cannot be used through a loader: it has no clIcdGetPlatformIDsKHR"});
    return;
  }
  std::uint32_t count = 0;
  const std::int32_t status = list(0, nullptr, &count);
  say_line({"platforms", std::to_string(status == 0 ? count : 0)});
}

std::set<std::string> loaded_libraries() {
  std::set<std::string> files;
  ::dl_iterate_phdr(
      [](struct dl_phdr_info* info, std::size_t, void* into) {
        const std::string file = info->dlpi_name;
        if (!file.empty()) static_cast<std::set<std::string>*>(into)->insert(file);
        return 0;
      },
      &files);
  return files;
}

/// Reports the libraries that were loaded since.
void say_new_libraries(const char* how, std::set<std::string>& known) {
  for (const std::string& file : loaded_libraries()) {
    if (known.insert(file).second) say_line({how, file});
  }
}

void probe_backend(const std::string& name, const Config& config) {
  std::set<std::string> known = loaded_libraries();
  const ModuleReport module = examine_module(name, config);
  say_line({"module", module.file.string(), module.exists ? "yes" : "no",
            module.loads ? "yes" : "no", std::to_string(module.abi), module.problem});
  say_new_libraries("linked", known);
  if (!module.problem.empty()) return;
  Config only = config;
  only.backends = {name};
  for (const BackendReport& report : list_backends(only)) {
    say_line({"reason", report.reason});
    for (const DeviceInfo& device : report.devices) {
      say_line({"device", device.id, device.name, device.platform, device.driver,
                name_of(device.kind), std::to_string(device.memory_bytes)});
    }
  }
  say_new_libraries("opened", known);
}

Device open_and_say(const std::string& id, const Config& config) {
  Device device = open_device(id, config);
  const DeviceInfo& info = device.info();
  say_line({"opened", info.id, info.name, info.platform, info.driver, name_of(info.sampling),
            info.sampling_reason, info.fft});
  return device;
}

/// The first line of a message, without the log of a compiler after it.
std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

void run_self_tests(const Device& device) {
  for (const SelfTest& test : self_tests()) {
    say_line({"starts", test.name});
    const auto begin = std::chrono::steady_clock::now();
    Finding found;
    try {
      found = test.run(device);
    } catch (const Error& error) {
      found = {false, first_line(error.what())};
    }
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
    say_line({"tested", test.name, found.passed ? "yes" : "no",
              fmt::format("{:.3f}", elapsed.count()), found.detail});
  }
}

}  // namespace

ExitStatus answer_probe(const std::string& probe, const Config& config) {
  become_probe();
  const std::size_t colon = probe.find(':');
  const std::string kind = probe.substr(0, colon);
  const std::string what = colon == std::string::npos ? "" : probe.substr(colon + 1);
  try {
    if (kind == "library") {
      static_cast<void>(open_library(what));
    } else if (kind == "icd") {
      probe_icd(what);
    } else if (kind == "backend") {
      probe_backend(what, config);
    } else if (kind == "open") {
      static_cast<void>(open_and_say(what, config));
    } else if (kind == "test") {
      run_self_tests(open_and_say(what, config));
    } else {
      throw UsageError(fmt::format("invalid value '{}' for --probe", probe));
    }
  } catch (const Error& error) {
    say_line({"problem", first_line(error.what())});
  }
  say_line({"cache", kernel_cache_problem()});
  return ExitStatus::ok;
}

}  // namespace warpalign::program::doctor
