// Missing and broken backend modules: reported with the reason, never fatal.
#include "support/temporary_folder.hpp"

#include <warpalign/error.hpp>
#include <warpalign/open_device.hpp>

#include <doctest/doctest.h>

TEST_CASE("loader: with no modules every backend is reported missing, and opening says so") {
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

TEST_CASE("loader: a file that is no module is reported") {
  const test::TemporaryFolder folder;
  (void)folder.write("warpalign_cuda.so", "not a shared object");
  warpalign::Config config;
  config.module_folder = folder.path();
  for (const auto& report : warpalign::list_backends(config)) {
    if (report.backend == "cuda") CHECK(report.reason.find("does not load") != std::string::npos);
  }
}

TEST_CASE("loader: unknown names are refused, with what there is") {
  CHECK_THROWS_WITH_AS((void)warpalign::open_device("gpu"), doctest::Contains("not a device name"),
                       warpalign::Error);
  CHECK_THROWS_WITH_AS((void)warpalign::open_device("opencl:no such device"),
                       doctest::Contains("no such device"), warpalign::Error);
}
