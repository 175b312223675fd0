// How many frames pass through a device at once.
#pragma once

#include "registration/local/window_grid.hpp"

#include <warpalign/device.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace warpalign::detail {

/// As many frames as a device gains by, 1 to `most`: their windows fill a GPU, or what a CPU's
/// caches hold.
[[nodiscard]] inline std::int64_t batch_of(const Device& device, const WindowGrid& grid,
                                           std::size_t most) {
  constexpr double gpu_bytes = 512e6;
  constexpr double cpu_bytes = 16e6;
  constexpr double bytes_per_pixel = 30;
  const double frame = bytes_per_pixel * static_cast<double>(grid.window.plane()) *
                       static_cast<double>(grid.origins.size());
  const double room = device.info().kind == DeviceKind::cpu ? cpu_bytes : gpu_bytes;
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(room / frame), 1,
                                  static_cast<std::int64_t>(most));
}

}  // namespace warpalign::detail
