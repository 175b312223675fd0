// The doctor's report as JSON, for bug reports and programs.
#include "doctor/checkup_report.hpp"
#include "reports/json.hpp"

#include <warpalign/version.hpp>

#include <sys/utsname.h>

#include <cstdint>
#include <cstdlib>
#include <thread>

namespace warpalign::program::doctor {
namespace {

Json host_json() {
  struct utsname system {};
  ::uname(&system);
  return Json::object({{"system", system.sysname},
                       {"release", system.release},
                       {"machine", system.machine},
                       {"threads", std::thread::hardware_concurrency()}});
}

Json remarks_json(const std::vector<Remark>& remarks) {
  Json list = Json::array();
  for (const Remark& remark : remarks) {
    list.push_back(Json::object({{"text", remark.text},
                                 {"debian", remark.packages.debian},
                                 {"fedora", remark.packages.fedora},
                                 {"elsewhere", remark.packages.elsewhere}}));
  }
  return list;
}

Json installation_json(const Checkup& checkup) {
  const Installation& found = checkup.installation;
  return Json::object({{"library", found.library.string()},
                       {"module_folder", found.module_folder.string()},
                       {"module_abi", found.module_abi},
                       {"backends", found.backends}});
}

Json configuration_json(const Checkup& checkup) {
  Json variables = Json::object();
  for (const auto& [name, value] : checkup.variables) variables[name] = value;
  return Json::object({{"user_file", checkup.installation.config_file.string()},
                       {"file_read", checkup.config_file},
                       {"problem", checkup.config_problem},
                       {"environment", variables}});
}

Json cache_json(const KernelCache& cache) {
  return Json::object({{"folder", cache.folder.string()},
                       {"exists", cache.exists},
                       {"entries", cache.entries},
                       {"bytes", cache.bytes},
                       {"writable", cache.writable},
                       {"problem", cache.problem}});
}

Json drivers_json(const Checkup& checkup) {
  Json drivers = Json::array();
  for (const Icd& icd : checkup.drivers) {
    drivers.push_back(Json::object({{"file", icd.file.file},
                                    {"library", icd.file.library},
                                    {"loaded_from", icd.loaded_from},
                                    {"platforms", icd.platforms},
                                    {"crashed", icd.crashed},
                                    {"problem", icd.problem}}));
  }
  return Json::object({{"looked_for_in", checkup.icds.origin},
                       {"drivers", drivers},
                       {"left_out", checkup.left_out}});
}

Json backend_json(const Backend& backend) {
  Json devices = Json::array();
  for (const ListedDevice& device : backend.devices) {
    devices.push_back(
        Json::object({{"id", device.id},
                      {"name", device.name},
                      {"platform", device.platform},
                      {"driver", device.driver},
                      {"kind", device.kind},
                      {"memory_bytes", std::strtoull(device.memory_bytes.c_str(), nullptr, 10)}}));
  }
  Json libraries = Json::array();
  for (const Library& library : backend.libraries) {
    libraries.push_back(Json::object({{"file", library.file}, {"how", library.how}}));
  }
  const ModuleReport& module = backend.module;
  return Json::object({{"backend", module.backend},
                       {"module", module.file.string()},
                       {"exists", module.exists},
                       {"loads", module.loads},
                       {"abi", module.abi},
                       {"problem", backend.problem},
                       {"devices", devices},
                       {"libraries", libraries}});
}

Json device_json(const TestedDevice& device) {
  Json tests = Json::array();
  for (const TestResult& test : device.tests) {
    tests.push_back(Json::object({{"name", test.name},
                                  {"passed", test.passed},
                                  {"seconds", test.seconds},
                                  {"detail", test.detail}}));
  }
  return Json::object({{"id", device.id},
                       {"name", device.name},
                       {"platform", device.platform},
                       {"driver", device.driver},
                       {"sampling", device.sampling},
                       {"sampling_reason", device.sampling_reason},
                       {"fft", device.fft},
                       {"passed", device.passed()},
                       {"problem", device.problem},
                       {"seconds", device.seconds},
                       {"tests", tests}});
}

}  // namespace

std::string json_text(const Checkup& checkup) {
  Json object;
  object["status"] = checkup.problems.empty() ? "ok" : "problems";
  object["version"] = version();
  object["problems"] = remarks_json(checkup.problems);
  object["notes"] = remarks_json(checkup.notes);
  object["host"] = host_json();
  object["installation"] = installation_json(checkup);
  object["configuration"] = configuration_json(checkup);
  object["kernel_cache"] = cache_json(checkup.cache);
  object["opencl"] = drivers_json(checkup);
  object["backends"] = Json::array();
  for (const Backend& backend : checkup.backends) {
    object["backends"].push_back(backend_json(backend));
  }
  object["fft"] = Json::array();
  for (const FftLibrary& fft : checkup.ffts) {
    object["fft"].push_back(Json::object({{"name", fft.name}, {"state", fft.state}}));
  }
  object["default_device"] = checkup.default_device;
  object["default_problem"] = checkup.default_problem;
  object["devices"] = Json::array();
  for (const TestedDevice& device : checkup.devices) {
    object["devices"].push_back(device_json(device));
  }
  return object.text();
}

}  // namespace warpalign::program::doctor
