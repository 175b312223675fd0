// Lost devices: core throws for every use of one before it reaches the backend.
#pragma once

#include <warpalign/backend/driver.hpp>

namespace warpalign::detail {

/// Throws Error(device_unavailable), which names the failure by which the device was lost.
[[noreturn]] void refuse_lost(const backend::Driver& driver);

inline void check_not_lost(const backend::Driver& driver) {
  if (driver.lost() != nullptr) refuse_lost(driver);
}

}  // namespace warpalign::detail
