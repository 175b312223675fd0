// `warpalign devices`, --help and --version.
#include "program/run_program.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

namespace warpalign::test {
namespace {

TEST_CASE("devices lists every backend, with the reason for one that is missing") {
  const Outcome outcome = run_program({"devices", "--json"});
  CHECK(outcome.status == 0);
  CHECK(outcome.err.empty());
  const auto report = nlohmann::json::parse(outcome.out);
  REQUIRE(report["backends"].size() == 2);
  int defaults = 0;
  for (const auto& backend : report["backends"]) {
    CHECK((backend["available"] == true || backend["reason"] != ""));
    CHECK((backend["available"] == false || !backend["devices"].empty()));
    for (const auto& device : backend["devices"]) {
      CHECK(device["id"].get<std::string>().starts_with(backend["backend"].get<std::string>()));
      CHECK(device["name"] != "");
      if (device["default"] == true) {
        ++defaults;
        CHECK(report["default"] == device["id"]);
        CHECK(device["fft"] != "");
      }
    }
  }
  CHECK(defaults == (report["default"].is_null() ? 0 : 1));
  CHECK(report["default"].is_null() == (report["default_error"] != ""));
}

TEST_CASE("devices as text names every backend") {
  const Outcome outcome = run_program({"devices"});
  CHECK(outcome.status == 0);
  CHECK(outcome.err.empty());
  for (const char* name : {"cuda", "opencl"}) {
    CHECK(outcome.out.find(name) != std::string::npos);
  }
}

TEST_CASE("a default device that cannot be opened is shown, and is no failure") {
  ::setenv("WARPALIGN_DEVICE", "opencl:99", 1);
  const Outcome outcome = run_program({"devices", "--json"});
  ::unsetenv("WARPALIGN_DEVICE");
  CHECK(outcome.status == 0);
  const auto report = nlohmann::json::parse(outcome.out);
  CHECK(report["default"].is_null());
  CHECK(report["default_error"] != "");
}

TEST_CASE("--version prints a number") {
  const Outcome version = run_program({"--version"});
  CHECK(version.status == 0);
  CHECK(version.out.starts_with("warpalign "));
}

}  // namespace
}  // namespace warpalign::test
