// The data that the doctor collects, and its conclusions.
#pragma once

#include "doctor/icd_files.hpp"
#include "doctor/kernel_cache.hpp"
#include "doctor/packages.hpp"

#include <warpalign/installation.hpp>

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace warpalign::program::doctor {

struct Request {
  std::string device;  ///< the only device to test; empty for all
  std::optional<std::string> config;
  bool quick = false;             ///< open devices without testing them
  std::optional<int> time_limit;  ///< in seconds for each process; empty for the default
};

/// A shared library, and how it was loaded.
struct Library {
  std::string file;
  std::string how;  ///< "linked" by a module, or "opened" at run time
};

/// An OpenCL driver.
struct Icd {
  IcdFile file;
  std::string loaded_from;  ///< empty if it does not load
  int platforms = 0;
  bool crashed = false;  ///< or did not answer
  std::string problem;   ///< empty if it is usable
};

struct ListedDevice {
  std::string id;
  std::string name;
  std::string platform;
  std::string driver;
  std::string kind;
  std::string memory_bytes;
};

struct Backend {
  ModuleReport module;
  std::vector<Library> libraries;  ///< loaded with the module
  std::vector<ListedDevice> devices;
  std::string problem;  ///< why it offers no device, or how its process ended

  /// The first library of this name, such as "libOpenCL"; null if there is none.
  [[nodiscard]] const Library* library(const std::string& name) const;
};

struct TestResult {
  std::string name;
  bool passed = false;
  double seconds = 0;
  std::string detail;
};

struct TestedDevice {
  std::string id;
  std::string name;
  std::string platform;
  std::string driver;
  std::string sampling;
  std::string sampling_reason;
  std::string fft;
  std::vector<TestResult> tests;
  std::string problem;        ///< why it cannot be opened, or how its process ended
  std::string cache_problem;  ///< why compiled kernels were not stored; empty if they were
  double seconds = 0;

  [[nodiscard]] bool passed() const;
};

struct FftLibrary {
  std::string name;
  std::string state;  ///< in words
};

/// A message for the reader, with advice.
struct Remark {
  std::string text;
  Packages packages;
};

struct Checkup {
  Installation installation;
  std::string config_file;     ///< the file that was read; empty if none
  std::string config_problem;  ///< empty if the file could be read or does not exist
  std::vector<std::pair<std::string, std::string>> variables;  ///< of the environment
  IcdList icds;
  std::vector<Icd> drivers;
  std::string left_out;  ///< drivers that later steps exclude, because they crash
  std::vector<Backend> backends;
  std::vector<FftLibrary> ffts;
  KernelCache cache;
  std::string default_device;   ///< its id; empty if none opens
  std::string default_problem;  ///< why not
  std::vector<TestedDevice> devices;
  std::vector<Remark> problems;
  std::vector<Remark> notes;
};

/// Examines everything. Calls `step` with the name of each step. Throws UsageError for a malformed
/// device.
[[nodiscard]] Checkup check_up(const Request& request,
                               const std::function<void(const std::string&)>& step);

/// Adds the conclusions to the problems and the notes.
void conclude(Checkup& checkup, const Request& request);

}  // namespace warpalign::program::doctor
