// The devices under test.
#pragma once

#include <warpalign/device.hpp>

#include <doctest/doctest.h>
#include <string>
#include <vector>

namespace test {

/// Every device that opens here, or the devices named in WARPALIGN_TEST_DEVICES (comma-separated;
/// each of them must open). Opens them once, prints which are missing, and fails if there are
/// none.
const std::vector<warpalign::Device>& devices();

void close_devices();

/// Runs `body(device)` on every device under test. Failure messages name the device.
template <class Body>
void on_every_device(Body&& body) {
  for (const warpalign::Device& device : devices()) {
    CAPTURE(device.info().id);
    CAPTURE(device.info().name);
    body(device);
  }
}

}  // namespace test
