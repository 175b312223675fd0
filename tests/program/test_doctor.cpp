// `warpalign doctor`, on a working machine and on broken ones.
#include "program/disks.hpp"
#include "program/run_program.hpp"
#include "support/skipped.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

namespace warpalign::test {
namespace {

using nlohmann::json;

struct Report {
  int status;
  json found;

  [[nodiscard]] bool has_problem(const std::string& words) const {
    for (const json& problem : found["problems"]) {
      if (problem["text"].get<std::string>().find(words) != std::string::npos) return true;
    }
    return false;
  }
};

Report examine(std::vector<std::string> options) {
  options.insert(options.begin(), {"doctor", "--json"});
  const Outcome outcome = run_program(options);
  CAPTURE(outcome.err);
  REQUIRE(json::accept(outcome.out));
  return {outcome.status, json::parse(outcome.out)};
}

/// A folder of .icd files: those of this machine, and one more that names this library.
// Those of this machine are the system's, or the one that OCL_ICD_VENDORS names.
void write_icds(const std::string& folder, const std::string& library) {
  std::filesystem::create_directory(folder);
  const auto add = [&](const std::filesystem::path& icd) {
    write_text(folder + "/" + icd.filename().string(), read_text(icd));
  };
  const char* named = std::getenv("OCL_ICD_VENDORS");
  if (named != nullptr && std::filesystem::is_regular_file(named)) {
    add(named);
  } else {
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator("/etc/OpenCL/vendors", none)) {
      add(entry.path());
    }
  }
  write_text(folder + "/broken.icd", library + "\n");
}

json broken_driver(const Report& report) {
  for (const json& driver : report.found["opencl"]["drivers"]) {
    if (driver["file"].get<std::string>().ends_with("broken.icd")) return driver;
  }
  FAIL("broken.icd is not in the report");
  return {};
}

TEST_CASE("doctor tests a device with known answers, and prints the time of each") {
  require_test_device();
  const Report report = examine({"--device", test_device()});
  CAPTURE(report.found.dump(2));
  CHECK(report.status == 0);
  CHECK(report.found["status"] == "ok");
  CHECK(report.found["problems"].empty());
  CHECK(report.found["installation"]["library"].get<std::string>().find("libwarpalign") !=
        std::string::npos);
  REQUIRE(report.found["devices"].size() == 1);
  const json& device = report.found["devices"][0];
  CHECK(device["passed"] == true);
  CHECK(device["fft"] != "");
  REQUIRE(device["tests"].size() == 5);
  for (const json& test : device["tests"]) {
    CHECK(test["passed"] == true);
    CHECK(test["seconds"] >= 0);
    CHECK(test["detail"] != "");
  }
}

TEST_CASE("doctor prints which OpenCL loader is used, and where each driver was loaded from") {
  require_test_device();
  if (!test_device().starts_with("opencl"))
    return ::test::skip_case("the device under test is no OpenCL's");
  const Report report = examine({"--quick"});
  bool has_loader = false;
  for (const json& backend : report.found["backends"]) {
    for (const json& library : backend["libraries"]) {
      if (library["file"].get<std::string>().find("libOpenCL.so") == std::string::npos) continue;
      has_loader = true;
      CHECK((library["how"] == "linked" || library["how"] == "opened"));
    }
  }
  CHECK(has_loader);
  REQUIRE_FALSE(report.found["opencl"]["drivers"].empty());
  for (const json& driver : report.found["opencl"]["drivers"]) {
    CHECK(std::filesystem::exists(driver["loaded_from"].get<std::string>()));
  }
}

TEST_CASE("doctor as text begins with the conclusion, without colours in a file") {
  require_test_device();
  const Outcome outcome = run_program({"doctor", "--quick"});
  CHECK(outcome.status == 0);
  CHECK(outcome.err.empty());
  CHECK(outcome.out.substr(0, outcome.out.find('\n')).find("all is well") != std::string::npos);
  CHECK(outcome.out.find('\x1b') == std::string::npos);  // no terminal, no colours
}

TEST_CASE("a driver that crashes when it is loaded is reported, and the others are examined") {
  require_test_device();
  const ScratchFolder folder;
  write_icds(folder / "vendors", WARPALIGN_CRASHING_ICD);
  const Variable vendors("OCL_ICD_VENDORS", (folder / "vendors").c_str());
  const Report report = examine({"--quick"});
  CAPTURE(report.found.dump(2));
  CHECK(report.status == 1);
  CHECK(broken_driver(report)["crashed"] == true);
  CHECK(report.has_problem("crashed (signal 6"));
  CHECK(report.has_problem("broken.icd"));
  CHECK(report.found["problems"].size() == 1);
  CHECK(report.found["opencl"]["left_out"] == WARPALIGN_CRASHING_ICD);
  CHECK_FALSE(report.found["devices"].empty());
  for (const json& device : report.found["devices"]) CHECK(device["passed"] == true);
}

TEST_CASE("doctor stops waiting for a driver that never answers") {
  require_test_device();
  const ScratchFolder folder;
  write_icds(folder / "vendors", WARPALIGN_HANGING_ICD);
  const Variable vendors("OCL_ICD_VENDORS", (folder / "vendors").c_str());
  const Report report = examine({"--quick", "--time-limit", "10"});
  CHECK(report.status == 1);
  CHECK(report.has_problem("no answer within 10 s"));
  CHECK_FALSE(report.found["devices"].empty());
}

TEST_CASE("a driver whose library is missing is reported") {
  const ScratchFolder folder;
  write_icds(folder / "vendors", "libno-such-driver.so.1");
  const Variable vendors("OCL_ICD_VENDORS", (folder / "vendors").c_str());
  const Report report = examine({"--quick"});
  CHECK(report.status == 1);
  CHECK(broken_driver(report)["crashed"] == false);
  CHECK(report.has_problem("libno-such-driver.so.1"));
}

TEST_CASE("without a backend doctor names its package, and register names what is missing") {
  const ScratchFolder folder;
  write_text(folder / "none.toml", "modules = \"" + folder / "empty" + "\"\n");
  const Report report = examine({"--config", folder / "none.toml"});
  CHECK(report.status == 1);
  CHECK(report.has_problem("no device"));
  bool named = false;
  for (const json& note : report.found["notes"]) {
    const bool is_opencl = note["text"].get<std::string>().starts_with("backend opencl");
    if (is_opencl) named = note["debian"].get<std::string>().starts_with("libwarpalign-opencl");
  }
  CHECK(named);

  const std::string demo = WARPALIGN_DEMO_DATA;
  const Outcome outcome = run_program({"register", demo + "/reference.jpg", demo + "/moving.jpg",
                                       "--config", folder / "none.toml"});
  CHECK(outcome.status == 3);
  CHECK(outcome.err.find("libwarpalign-opencl") != std::string::npos);
}

TEST_CASE("a module that does not load is a problem") {
  const ScratchFolder folder;
  write_text(folder / "warpalign_opencl.so", "not a shared object");
  write_text(folder / "broken.toml", "modules = \"" + folder / "" + "\"\n");
  const Report report = examine({"--config", folder / "broken.toml"});
  CHECK(report.status == 1);
  CHECK(report.has_problem("its module does not load"));
}

TEST_CASE("a CUDA module without CUDA: doctor and devices name the package, and nothing crashes") {
  const ScratchFolder folder;
  std::filesystem::copy_file(WARPALIGN_NEEDS_CUFFT, folder / "warpalign_cuda.so");
  write_text(folder / "bare.toml", "modules = \"" + folder / "" + "\"\n");
  const Report report = examine({"--config", folder / "bare.toml"});
  CHECK(report.status == 1);
  CHECK(report.has_problem("libcufft.so.99"));
  bool named = false;
  for (const json& problem : report.found["problems"]) {
    named = named || problem["debian"].get<std::string>().starts_with("libcufft-100-0 ");
  }
  CHECK(named);

  const Outcome devices = run_program({"devices", "--config", folder / "bare.toml"});
  CHECK(devices.status == 0);
  CHECK(devices.out.find("libcufft.so.99") != std::string::npos);
  CHECK(devices.out.find("Debian: libcufft-100-0 ") != std::string::npos);

  const std::string demo = WARPALIGN_DEMO_DATA;
  const Outcome outcome = run_program({"register", demo + "/reference.jpg", demo + "/moving.jpg",
                                       "--config", folder / "bare.toml"});
  CHECK(outcome.status == 3);
  CHECK(outcome.err.find("libcufft.so.99") != std::string::npos);
}

TEST_CASE("a module of another version is a problem, and register reports it") {
  const ScratchFolder folder;
  std::filesystem::copy_file(WARPALIGN_OLD_MODULE, folder / "warpalign_opencl.so");
  write_text(folder / "old.toml", "modules = \"" + folder / "" + "\"\n");
  const Report report = examine({"--config", folder / "old.toml"});
  CHECK(report.status == 1);
  CHECK(report.has_problem("built for another version of warpalign"));
  for (const json& backend : report.found["backends"]) {
    if (backend["backend"] != "opencl") continue;
    CHECK(backend["abi"] == 1);
    CHECK(report.found["installation"]["module_abi"] > 1);
  }
  const std::string demo = WARPALIGN_DEMO_DATA;
  const Outcome outcome = run_program(
      {"register", demo + "/reference.jpg", demo + "/moving.jpg", "--config", folder / "old.toml"});
  CHECK(outcome.status == 3);
  CHECK(outcome.err.find("another version of warpalign") != std::string::npos);
}

TEST_CASE("a configuration that cannot be read is a problem, and the other checks run without it") {
  require_test_device();
  const ScratchFolder folder;
  write_text(folder / "bad.toml", "devise = \"opencl\"\n");
  const Report report = examine({"--quick", "--config", folder / "bad.toml"});
  CHECK(report.status == 1);
  CHECK(report.has_problem("unknown key 'devise'"));
  CHECK_FALSE(report.found["devices"].empty());
}

TEST_CASE("a missing device is a problem") {
  const Report report = examine({"--device", "opencl:99"});
  CHECK(report.status == 1);
  CHECK(report.has_problem("opencl:99"));
}

/// The reason why this device caches nothing anyway, or empty.
std::string nothing_to_keep() {
  return test_device().starts_with("cuda") ? "CUDA's kernels are not compiled at run time" : "";
}

/// Runs register and doctor with this home folder, where no cache can be written.
void check_works_without_cache(const std::string& home, const std::string& reason) {
  const Variable cache("XDG_CACHE_HOME", nullptr);
  const Variable pocl_cache("POCL_CACHE_DIR", nullptr);
  const Variable at_home("HOME", home.c_str());
  const std::string demo = WARPALIGN_DEMO_DATA;
  const Outcome outcome = run_program({"register", demo + "/reference.jpg", demo + "/moving.jpg",
                                       "--fast", "--device", test_device()});
  CAPTURE(outcome.err);
  CHECK(outcome.status == 0);
  CHECK(outcome.err.find("compiled kernels are not kept") != std::string::npos);
  CHECK(outcome.err.find(home) != std::string::npos);
  CHECK(outcome.err.find(reason) != std::string::npos);

  const Report report = examine({"--quick", "--device", test_device()});
  CHECK(report.status == 1);
  CHECK(report.has_problem("compiled kernels are not kept"));
  CHECK(report.has_problem(reason));
  CHECK(report.found["kernel_cache"]["writable"] == false);
  CHECK(report.found["devices"][0]["passed"] == true);
}

TEST_CASE("a read-only home: everything works, and register and doctor report the cost") {
  require_test_device();
  if (!nothing_to_keep().empty()) return ::test::skip_case(nothing_to_keep());
  const Disk disk(Disk::State::read_only);
  if (!disk.obstacle().empty()) return ::test::skip_case(disk.obstacle());
  check_works_without_cache(disk.path(), "Read-only file system");
}

TEST_CASE("a full disk: everything works, and register and doctor report the cost") {
  require_test_device();
  if (!nothing_to_keep().empty()) return ::test::skip_case(nothing_to_keep());
  const Disk disk(Disk::State::full);
  if (!disk.obstacle().empty()) return ::test::skip_case(disk.obstacle());
  check_works_without_cache(disk.path(), "No space left on device");
}

}  // namespace
}  // namespace warpalign::test
