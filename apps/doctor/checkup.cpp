// Examines every driver, backend and device in a separate process.
#include "doctor/checkup.hpp"

#include "doctor/probe_process.hpp"

#include <warpalign/error.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string_view>

namespace warpalign::program::doctor {
namespace {

using std::chrono::seconds;

// A driver answers within a second, a sleeping GPU within ten. The tests of a device compile dozens
// of kernels, which takes minutes on a slow CPU.
constexpr seconds library_limit{30};
constexpr seconds backend_limit{30};
constexpr seconds device_limit{600};

constexpr const char* clfft_library = "libclFFT.so.2";

// The environment variables that affect the search for files.
constexpr std::array named_variables{
    "CUDA_VISIBLE_DEVICES", "HOME",           "LD_LIBRARY_PATH",    "OCL_ICD_FILENAMES",
    "OCL_ICD_VENDORS",      "OPENCL_LAYERS",  "OPENCL_VENDOR_PATH", "RUSTICL_ENABLE",
    "XDG_CACHE_HOME",       "XDG_CONFIG_HOME"};

std::vector<std::pair<std::string, std::string>> relevant_variables() {
  std::vector<std::pair<std::string, std::string>> found;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view name = text.substr(0, equals);
    const bool named =
        std::find(named_variables.begin(), named_variables.end(), name) != named_variables.end();
    if (named || name.starts_with("WARPALIGN_") || name.starts_with("POCL_")) {
      found.emplace_back(name, text.substr(equals + 1));
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

template <class Number>
Number number_in(const std::string& text) {
  Number number{};
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

/// A temporary folder with copies of the usable .icd files.
class HealthyDrivers {
 public:
  explicit HealthyDrivers(const std::vector<Icd>& drivers) {
    std::string name =
        (std::filesystem::temp_directory_path() / "warpalign-doctor-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) return;
    folder_ = name;
    for (std::size_t i = 0; i < drivers.size(); ++i) {
      if (drivers[i].crashed) continue;
      std::ofstream(folder_ / fmt::format("{:03}.icd", i)) << drivers[i].file.library << "\n";
    }
  }
  HealthyDrivers(const HealthyDrivers&) = delete;
  HealthyDrivers& operator=(const HealthyDrivers&) = delete;
  ~HealthyDrivers() {
    std::error_code ignored;
    if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
  }
  [[nodiscard]] std::string folder() const { return folder_.string(); }

 private:
  std::filesystem::path folder_;
};

/// One examination, from the drivers to the devices.
class Examination {
 public:
  Examination(const Request& request, const std::function<void(const std::string&)>& step)
      : request_(request), step_(step) {}

  Checkup run() {
    read_configuration();
    checkup_.variables = relevant_variables();
    checkup_.cache = examine_kernel_cache(checkup_.installation.cache_folder);
    examine_drivers();
    for (const std::string& name : checkup_.installation.backends) examine_backend(name);
    examine_ffts();
    examine_default();
    examine_devices();
    return std::move(checkup_);
  }

 private:
  /// Reports an invalid file, and continues without it.
  void read_configuration() {
    try {
      config_ = request_.config ? read_config(*request_.config) : default_config();
      checkup_.config_file = config_.origin.string();
    } catch (const Error& error) {
      checkup_.config_problem = error.what();
      use_config_ = false;
    }
    checkup_.installation = describe_installation(config_);
  }

  ProbeOutcome probe(const std::string& what, seconds limit) {
    Words arguments{"doctor", "--probe", what};
    if (!use_config_) {
      arguments.emplace_back("--no-config");
    } else if (request_.config) {
      arguments.insert(arguments.end(), {"--config", *request_.config});
    }
    if (request_.time_limit) limit = seconds(*request_.time_limit);
    return run_probe(arguments, variables_, limit);
  }

  void examine_drivers() {
    checkup_.icds = find_icds();
    for (const IcdFile& file : checkup_.icds.files) examine_driver(file);
    const auto crashed = [](const Icd& icd) { return icd.crashed; };
    if (std::none_of(checkup_.drivers.begin(), checkup_.drivers.end(), crashed)) return;
    healthy_.emplace(checkup_.drivers);
    if (healthy_->folder().empty()) return;
    variables_["OCL_ICD_VENDORS"] = healthy_->folder();
    for (const Icd& icd : checkup_.drivers) {
      if (!icd.crashed) continue;
      checkup_.left_out += (checkup_.left_out.empty() ? "" : ", ") + icd.file.library;
    }
  }

  void examine_driver(const IcdFile& file) {
    Icd icd{file, {}, 0, false, file.problem};
    if (icd.problem.empty()) {
      step_("OpenCL driver " + file.library);
      const ProbeOutcome outcome = probe("icd:" + file.library, library_limit);
      icd.loaded_from = outcome.value("file");
      icd.platforms = number_in<int>(outcome.value("platforms"));
      icd.problem = outcome.value("problem");
      icd.crashed = !outcome.trouble.empty();
      if (icd.crashed) icd.problem = outcome.trouble;
    }
    checkup_.drivers.push_back(std::move(icd));
  }

  void examine_backend(const std::string& name) {
    step_("backend " + name);
    const ProbeOutcome outcome = probe("backend:" + name, backend_limit);
    Backend backend;
    backend.module.backend = name;
    for (const Words& line : outcome.lines) take(line, backend);
    if (!outcome.trouble.empty()) backend.problem = outcome.trouble;
    checkup_.backends.push_back(std::move(backend));
  }

  static void take(const Words& line, Backend& backend) {
    const std::string& key = line.front();
    if (key == "module" && line.size() == 6) {
      ModuleReport& module = backend.module;
      module.file = line[1];
      module.exists = line[2] == "yes";
      module.loads = line[3] == "yes";
      module.abi = number_in<int>(line[4]);
      module.problem = backend.problem = line[5];
    } else if ((key == "linked" || key == "opened") && line.size() == 2) {
      backend.libraries.push_back({line[1], key});
    } else if ((key == "reason" || key == "problem") && line.size() == 2) {
      backend.problem = line[1];
    } else if (key == "device" && line.size() == 7) {
      backend.devices.push_back({line[1], line[2], line[3], line[4], line[5], line[6]});
    }
  }

  void examine_ffts() {
    for (const Backend& backend : checkup_.backends) {
      if (backend.module.backend == "opencl" && backend.module.loads) {
        checkup_.ffts.push_back({"VkFFT", "compiled into the OpenCL backend"});
        checkup_.ffts.push_back({"SIMD", "the OpenCL backend's own kernels for CPUs"});
        examine_clfft();
      }
      if (const Library* cufft = backend.library("libcufft")) {
        checkup_.ffts.push_back({"cuFFT", cufft->file + ", linked by the CUDA backend"});
      }
    }
  }

  void examine_clfft() {
    step_("clFFT");
    const ProbeOutcome outcome = probe(std::string("library:") + clfft_library, library_limit);
    const std::string file = outcome.value("file");
    const std::string problem =
        outcome.trouble.empty() ? outcome.value("problem") : outcome.trouble;
    const bool wanted = config_.opencl_fft == "clfft";
    checkup_.ffts.push_back({"clFFT", problem.empty()
                                          ? file + (wanted ? ", which the configuration asks for"
                                                           : ", for those who ask for it")
                                          : "not found: " + problem});
    if (problem.empty()) return;
    Remark remark{"clFFT does not load (" + problem + ")", clfft_packages()};
    if (wanted) {
      remark.text += ", and the configuration asks for it: remove opencl.fft there, or install it";
      checkup_.problems.push_back(std::move(remark));
    } else {
      remark.text += "; it is not needed";
      checkup_.notes.push_back(std::move(remark));
    }
  }

  void examine_default() {
    step_("the device that is used when none is named");
    const ProbeOutcome outcome = probe("open:", backend_limit);
    checkup_.default_device = outcome.value("opened");
    checkup_.default_problem = outcome.trouble.empty() ? outcome.value("problem") : outcome.trouble;
  }

  void examine_devices() {
    if (!request_.device.empty()) return examine_device(request_.device);
    for (const Backend& backend : checkup_.backends) {
      for (const ListedDevice& device : backend.devices) examine_device(device.id);
    }
  }

  void examine_device(const std::string& id) {
    step_((request_.quick ? "opening " : "self-tests on ") + id);
    const ProbeOutcome outcome = probe((request_.quick ? "open:" : "test:") + id, device_limit);
    TestedDevice device;
    device.id = id;
    std::string running;
    for (const Words& line : outcome.lines) take(line, device, running);
    if (!outcome.trouble.empty()) {
      device.problem =
          running.empty() ? outcome.trouble : fmt::format("{}: {}", running, outcome.trouble);
    }
    device.seconds = outcome.seconds;
    checkup_.devices.push_back(std::move(device));
  }

  static void take(const Words& line, TestedDevice& device, std::string& running) {
    const std::string& key = line.front();
    if (key == "opened" && line.size() == 8) {
      device.id = line[1];
      device.name = line[2];
      device.platform = line[3];
      device.driver = line[4];
      device.sampling = line[5];
      device.sampling_reason = line[6];
      device.fft = line[7];
    } else if (key == "starts" && line.size() == 2) {
      running = line[1];
    } else if (key == "tested" && line.size() == 5) {
      running.clear();
      device.tests.push_back({line[1], line[2] == "yes", number_in<double>(line[3]), line[4]});
    } else if (key == "problem" && line.size() == 2) {
      device.problem = line[1];
    } else if (key == "cache" && line.size() == 2) {
      device.cache_problem = line[1];
    }
  }

  const Request& request_;
  const std::function<void(const std::string&)>& step_;
  Config config_;
  bool use_config_ = true;
  std::optional<HealthyDrivers> healthy_;
  std::map<std::string, std::string> variables_;
  Checkup checkup_;
};

}  // namespace

const Library* Backend::library(const std::string& name) const {
  for (const Library& one : libraries) {
    const std::string file = std::filesystem::path(one.file).filename();
    if (file.starts_with(name + ".")) return &one;
  }
  return nullptr;
}

bool TestedDevice::passed() const {
  return problem.empty() &&
         std::all_of(tests.begin(), tests.end(), [](const TestResult& t) { return t.passed; });
}

Checkup check_up(const Request& request, const std::function<void(const std::string&)>& step) {
  Checkup checkup = Examination(request, step).run();
  conclude(checkup, request);
  return checkup;
}

}  // namespace warpalign::program::doctor
