// Checks whether a device has enough memory to register two volumes.
#pragma once

#include <warpalign/device.hpp>

namespace warpalign::detail {

/// Device memory in bytes: the largest single allocation, and the approximate total, which includes
/// the workspace of the FFT library.
struct VolumeMemory {
  std::size_t largest = 0;
  std::size_t total = 0;
};

/// The options that increase the memory use.
struct VolumeMemoryUse {
  bool masked = false;         ///< whether either volume has a mask
  std::size_t modalities = 1;  ///< each modality has buffers of its own
};

[[nodiscard]] VolumeMemory volume_memory(const Shape& reference, const Shape& moving,
                                         const VolumeMemoryUse& use);

/// Throws Error(out_of_memory) if the device has less memory than volume_memory() returns.
void check_volume_memory(const Device& device, const Shape& reference, const Shape& moving,
                         const VolumeMemoryUse& use);

}  // namespace warpalign::detail
