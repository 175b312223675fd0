// Checks whether a device has enough memory to register two volumes.
#include "registration/volume/volume_memory.hpp"

#include "registration/volume/search/volume_search.hpp"

#include <warpalign/error.hpp>

#include <algorithm>
#include <cstdio>

namespace warpalign::detail {

namespace {

std::size_t bytes_of(const Shape& shape, PixelType type) {
  return static_cast<std::size_t>(shape.pixels()) * size_of(type);
}

std::string gibibytes(std::size_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f GiB", static_cast<double>(bytes) / (1U << 30U));
  return text;
}

}  // namespace

// Counts the voxels, the values and the smoothed values of both volumes, the padded frame, three
// spectra, and two more spectra for the FFT library.
VolumeMemory volume_memory(const Shape& reference, const Shape& moving,
                           const VolumeMemoryUse& use) {
  const Shape padded = padded_volume_of(reference, moving);
  const std::size_t spectrum = bytes_of(RealFftPlan::half_spectrum(padded), PixelType::c32);
  VolumeMemory memory;
  memory.largest = spectrum;
  memory.total = 3 * bytes_of(reference, PixelType::f32) + 3 * bytes_of(moving, PixelType::f32) +
                 bytes_of(padded, PixelType::f32) + 5 * spectrum;
  if (use.masked) {
    memory.total += bytes_of(reference, PixelType::u8) + bytes_of(moving, PixelType::u8);
  }
  memory.total *= use.modalities;
  return memory;
}

void check_volume_memory(const Device& device, const Shape& reference, const Shape& moving,
                         const VolumeMemoryUse& use) {
  const DeviceInfo& info = device.info();
  const VolumeMemory needed = volume_memory(reference, moving, use);
  if (needed.total <= info.memory_bytes && needed.largest <= info.max_allocation_bytes) return;
  throw Error(ErrorKind::out_of_memory,
              "volumes of " + to_string(reference) + " and " + to_string(moving) + " need about " +
                  gibibytes(needed.total) + " of device memory, with a largest allocation of " +
                  gibibytes(needed.largest) + "; " + info.name + " has " +
                  gibibytes(info.memory_bytes) + " and allows allocations of up to " +
                  gibibytes(info.max_allocation_bytes),
              {.stage = "register_volume",
               .backend = info.backend,
               .device = info.name,
               .advice = "crop or downsample the volumes"});
}

}  // namespace warpalign::detail
