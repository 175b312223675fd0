// Helpers that the tests of all kinds of faults share: sweeps over the scenarios, and the count of
// points.
#pragma once

#include "faults/scenarios.hpp"

#include <warpalign/open_device.hpp>

#include <doctest/doctest.h>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>

namespace faults {

/// The device that WARPALIGN_FAULT_DEVICE names, or PoCL's device of this backend.
inline warpalign::Device open_device_of(const std::string& backend,
                                        const warpalign::Config& config) {
  const char* named = std::getenv("WARPALIGN_FAULT_DEVICE");
  return warpalign::open_device(named == nullptr ? backend + ":portable" : named, config);
}

class Checker {
 public:
  explicit Checker(Expectation expectation) : expectation_(std::move(expectation)) {}
  Checker(const Checker&) = delete;
  Checker& operator=(const Checker&) = delete;
  ~Checker() { std::printf("fault points: %zu, of which %zu failed\n", points_, failed_); }

  /// Runs each scenario with objects that are created again for each failure, and with objects
  /// that are kept.
  void sweep(const std::vector<Scenario>& scenarios, const warpalign::Device& device) {
    for (const Scenario& scenario : chosen(scenarios)) {
      check(scenario.name + ", made anew", sweep_anew(scenario, device, expectation_));
      check(scenario.name + ", kept", sweep_kept(scenario, device, expectation_));
    }
  }
  /// Runs each scenario with a device that is opened again for each failure, so that programs are
  /// built and FFTs planned again.
  void sweep_opening(const std::vector<Scenario>& scenarios,
                     const std::function<warpalign::Device()>& open) {
    const warpalign::Device unused = open();
    for (const Scenario& scenario : chosen(scenarios)) {
      const Scenario opening{scenario.name,
                             [&](const warpalign::Device&) { return scenario.make(open()); }};
      check(scenario.name + ", device opened anew", sweep_anew(opening, unused, expectation_));
    }
  }

 private:
  /// The scenarios whose name contains WARPALIGN_FAULT_SCENARIO, or all.
  static std::vector<Scenario> chosen(std::vector<Scenario> scenarios) {
    const char* part = std::getenv("WARPALIGN_FAULT_SCENARIO");
    if (part != nullptr) {
      std::erase_if(scenarios, [part](const Scenario& scenario) {
        return scenario.name.find(part) == std::string::npos;
      });
    }
    return scenarios;
  }
  void check(const std::string& name, const Swept& swept) {
    points_ += swept.points;
    failed_ += swept.failed;
    const std::string summary = swept.summary(name);
    std::printf("%s\n", summary.c_str());
    std::fflush(stdout);
    CHECK_MESSAGE(swept.wrong.empty(), summary);
  }

  Expectation expectation_;
  std::size_t points_ = 0;
  std::size_t failed_ = 0;
};

}  // namespace faults
