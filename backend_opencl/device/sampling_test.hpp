// Chooses how images are sampled on a device, after a test of its texture unit.
#pragma once

#include "device/context.hpp"

namespace warpalign::opencl {

/// Sets `sampling` and `sampling_reason` in the device's info.
void choose_sampling(Context& context);

}  // namespace warpalign::opencl
