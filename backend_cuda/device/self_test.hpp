// Tests that a device must pass before it becomes available.
#pragma once

#include "device/context.hpp"

#include <warpalign/backend/driver.hpp>

#include <string>

namespace warpalign::cuda {

/// Throws Error(device_unavailable) if this build has no code for the device.
void require_kernels(const Context& context);

/// The reason why warps through the texture unit are wrong; empty if they are right.
[[nodiscard]] std::string texture_fault(backend::Driver& driver);

}  // namespace warpalign::cuda
