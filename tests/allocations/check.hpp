// The check that all tests of allocations share.
#pragma once

#include "allocations/allocation_count.hpp"

#include <doctest/doctest.h>

namespace test {

/// Checks that work() allocates nothing, on the host or on the device.
template <class Work>
void allocates_nothing(const warpalign::Device& device, Work work) {
  const Allocations found = allocations_of(device, work);
  CHECK_MESSAGE(found.on_host == 0, found.where);
  CHECK(found.on_device == 0);
}

}  // namespace test
