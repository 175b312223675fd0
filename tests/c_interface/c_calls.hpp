// What tests of the C interface share: an opened device, and checks of refused calls.
#pragma once

#include <warpalign/warpalign.h>
#include <warpalign/device.hpp>

#include <doctest/doctest.h>

#include <string>

namespace test {

inline std::string last_error() { return warpalign_last_error(); }

/// A device opened by the C interface. The destructor closes it.
class Opened {
 public:
  explicit Opened(const warpalign::Device& device) {
    REQUIRE(warpalign_open_device(device.info().id.c_str(), &device_) == WARPALIGN_OK);
    REQUIRE(device_.id != 0);
  }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;
  ~Opened() { warpalign_close_device(device_); }
  operator warpalign_device() const { return device_; }  // NOLINT(google-explicit-constructor)

 private:
  warpalign_device device_{};
};

}  // namespace test

#define CHECK_REFUSED(status, part, expression)                                            \
  do {                                                                                     \
    CHECK((expression) == (status));                                                       \
    CHECK_MESSAGE(test::last_error().find(part) != std::string::npos, test::last_error()); \
  } while (false)
