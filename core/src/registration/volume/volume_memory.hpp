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

/// What takes more memory than a plain registration.
struct VolumeMemoryUse {
  bool masked = false;         ///< whether either volume has a mask
  std::size_t modalities = 1;  ///< each of them keeps all that it needs
};

[[nodiscard]] VolumeMemory volume_memory(const Shape& reference, const Shape& moving,
                                         const VolumeMemoryUse& use);

/// Throws Error(out_of_memory) where the device has less memory than that.
void check_volume_memory(const Device& device, const Shape& reference, const Shape& moving,
                         const VolumeMemoryUse& use);

}  // namespace warpalign::detail
