// Whether a device has the memory that the registration of two volumes takes.
#pragma once

#include <warpalign/device.hpp>

namespace warpalign::detail {

/// Bytes of device memory: the largest single allocation, and all of them together with what an FFT
/// library takes for itself, about.
struct VolumeMemory {
  std::size_t largest = 0;
  std::size_t total = 0;
};

[[nodiscard]] VolumeMemory volume_memory(const Shape& reference, const Shape& moving);

/// Throws Error(out_of_memory) where the device has less.
void check_volume_memory(const Device& device, const Shape& reference, const Shape& moving);

}  // namespace warpalign::detail
