// What an opened device must be able to do, with answers that are known beforehand.
#pragma once

#include <warpalign/device.hpp>

#include <functional>
#include <string>
#include <vector>

namespace warpalign::program::doctor {

/// What one test found, in words such as "largest error 2e-6, 1e-4 is allowed".
struct Finding {
  bool passed = false;
  std::string detail;
};

struct SelfTest {
  std::string name;
  std::function<Finding(const Device&)> run;
};

/// Copying, the Fourier transform, image filtering, resampling and registration, in this order.
[[nodiscard]] const std::vector<SelfTest>& self_tests();

/// A scene of smooth spots is rotated, enlarged and shifted, and must be found so.
[[nodiscard]] Finding test_registration(const Device& device);

/// A finding of a largest error.
[[nodiscard]] Finding within(double error, double allowed, const std::string& unit = {});

}  // namespace warpalign::program::doctor
