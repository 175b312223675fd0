// Missing and broken backend modules are reported with a reason, and are never fatal.
#include "support/temporary_folder.hpp"

#include <warpalign/error.hpp>
#include <warpalign/installation.hpp>
#include <warpalign/open_device.hpp>

#include <dlfcn.h>
#include <doctest/doctest.h>
#include <cstdio>

TEST_CASE(
    "loader: without modules every backend is reported missing, and opening a device fails with "
    "the reasons") {
  const test::TemporaryFolder folder;
  warpalign::Config config;
  config.module_folder = folder.path();
  const auto reports = warpalign::list_backends(config);
  REQUIRE(reports.size() == 2);
  for (const auto& report : reports) {
    CHECK_FALSE(report.available);
    CHECK(report.reason.find(report.module) != std::string::npos);
  }
  CHECK_THROWS_WITH_AS((void)warpalign::open_device("opencl:0", config),
                       doctest::Contains("there is no module"), warpalign::Error);
}

TEST_CASE("loader: a file that is not a module is reported") {
  const test::TemporaryFolder folder;
  (void)folder.write("warpalign_cuda.so", "not a shared object");
  warpalign::Config config;
  config.module_folder = folder.path();
  for (const auto& report : warpalign::list_backends(config)) {
    if (report.backend == "cuda") CHECK(report.reason.find("does not load") != std::string::npos);
  }
}

TEST_CASE("loader: a library that is not a module of warpalign is refused") {
  Dl_info c_library{};
  REQUIRE(::dladdr(reinterpret_cast<void*>(&std::fopen), &c_library) != 0);
  const test::TemporaryFolder folder;
  std::filesystem::create_symlink(std::filesystem::canonical(c_library.dli_fname),
                                  folder.path() / "warpalign_cuda.so");
  warpalign::Config config;
  config.module_folder = folder.path();
  const auto other = warpalign::examine_module("cuda", config);
  CHECK(other.exists);
  CHECK_FALSE(other.loads);
  CHECK_MESSAGE(other.problem.find("is not a warpalign module") != std::string::npos,
                other.problem);
  const auto missing = warpalign::examine_module("none", config);
  CHECK_FALSE(missing.exists);
  CHECK_FALSE(missing.loads);
  CHECK(missing.problem.find("there is no module") != std::string::npos);
}

TEST_CASE("loader: installed modules are described, whatever the folder holds") {
  warpalign::Config config;
  config.module_folder = "/no/modules";
  config.cache_folder = "/no/cache";
  config.backends = {"mine"};
  const auto found = warpalign::describe_installation(config);
  CHECK(found.module_folder == "/no/modules");
  CHECK(found.cache_folder == "/no/cache");
  CHECK(found.backends == std::vector<std::string>{"mine"});
  CHECK(found.config_file.filename() == "warpalign.toml");
}

TEST_CASE("loader: unknown names are refused, with the known ones") {
  CHECK_THROWS_WITH_AS((void)warpalign::open_device("gpu"), doctest::Contains("not a device name"),
                       warpalign::Error);
  CHECK_THROWS_WITH_AS((void)warpalign::open_device("opencl:no such device"),
                       doctest::Contains("no such device"), warpalign::Error);
}
