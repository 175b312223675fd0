// How images are to be sampled on a device: tested, not believed.
#pragma once

#include "device/context.hpp"

namespace warpalign::opencl {

/// Sets `sampling` and `sampling_reason` of the device's info.
void choose_sampling(Context& context);

}  // namespace warpalign::opencl
