// Checks whether a device has enough memory to register two volumes.
#pragma once

#include <warpalign/device.hpp>

namespace warpalign::detail {

/// Bytes of device memory: of the largest single allocation, and approximately in total, including
/// what an FFT library allocates for itself.
struct VolumeMemory {
  std::size_t largest = 0;
  std::size_t total = 0;
};

/// `masked`: whether either volume has a mask.
[[nodiscard]] VolumeMemory volume_memory(const Shape& reference, const Shape& moving, bool masked);

/// Throws Error(out_of_memory) where the device has less memory than that.
void check_volume_memory(const Device& device, const Shape& reference, const Shape& moving,
                         bool masked);

}  // namespace warpalign::detail
