// Self-tests of a device, with results that are known in advance.
#pragma once

#include <warpalign/device.hpp>

#include <functional>
#include <string>
#include <vector>

namespace warpalign::program::doctor {

/// The finding of a test, such as "largest error 2e-6, 1e-4 is allowed".
struct Finding {
  bool passed = false;
  std::string detail;
};

struct SelfTest {
  std::string name;
  std::function<Finding(const Device&)> run;
};

/// Runs the tests of copies, the Fourier transform, image filtering, resampling and registration,
/// in this order.
[[nodiscard]] const std::vector<SelfTest>& self_tests();

/// Registers a scene of smooth spots that is rotated, enlarged and shifted by known amounts.
[[nodiscard]] Finding test_registration(const Device& device);

/// The finding for a largest error and its tolerance.
[[nodiscard]] Finding within(double error, double allowed, const std::string& unit = {});

}  // namespace warpalign::program::doctor
