// The devices under test.
#pragma once

#include <warpalign/device.hpp>

#include <doctest/doctest.h>
#include <string>
#include <vector>

namespace test {

/// Every device that opens here, or those named in WARPALIGN_TEST_DEVICES (comma-separated, each
/// of which must then open). Opened once. Says which are missing; fails when there is none at all.
const std::vector<warpalign::Device>& devices();

void close_devices();

/// Runs `body(device)` on every device under test; failures name the device.
template <class Body>
void on_every_device(Body&& body) {
  for (const warpalign::Device& device : devices()) {
    CAPTURE(device.info().id);
    CAPTURE(device.info().name);
    body(device);
  }
}

}  // namespace test
