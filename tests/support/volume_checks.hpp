// Checks that tests of volume registration share.
#pragma once

#include "support/volume_pairs.hpp"

#include <doctest/doctest.h>
#include <warpalign/error.hpp>
#include <warpalign/volume_registrar.hpp>

#include <string>

namespace test {

/// Checks that the translation is within `off` voxels of the truth along each axis, refined and
/// reliable.
inline void check_shift(const warpalign::VolumeRegistration& result, const warpalign::Point3& truth,
                        double off) {
  CAPTURE(result.translation.x);
  CAPTURE(result.translation.y);
  CAPTURE(result.translation.z);
  CAPTURE(result.significance);
  CHECK(distance(result.translation, truth) <= off);
  CHECK(result.reliable);
  CHECK(result.refined);
}

/// Checks that the action throws an error of this kind whose message contains `words`.
template <class Action>
void check_refused(warpalign::ErrorKind kind, const char* words, Action&& action) {
  try {
    action();
    FAIL("not refused");
  } catch (const warpalign::Error& error) {
    CAPTURE(std::string(error.what()));
    CHECK(error.kind() == kind);
    CHECK(std::string(error.what()).find(words) != std::string::npos);
  }
}

}  // namespace test
