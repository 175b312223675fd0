// Words for what DeviceInfo says by enumerations, in reports and in JSON.
#pragma once

#include <warpalign/device.hpp>

namespace warpalign::program {

/// "cpu", "gpu", "other".
[[nodiscard]] const char* name_of(DeviceKind kind);
/// "texture", "buffer".
[[nodiscard]] const char* name_of(Sampling sampling);

}  // namespace warpalign::program
