// Checks that are run on a device before it is made available.
#pragma once

#include "device/context.hpp"

#include <warpalign/backend/driver.hpp>

#include <string>

namespace warpalign::cuda {

/// Throws Error(device_unavailable) when this build holds no code for the device.
void require_kernels(const Context& context);

/// Why warps through the texture unit cannot be trusted; empty when their results are right.
[[nodiscard]] std::string texture_fault(backend::Driver& driver);

}  // namespace warpalign::cuda
