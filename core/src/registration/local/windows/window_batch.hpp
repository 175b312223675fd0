// Chooses the size of batches of frames, and their number.
#pragma once

#include "device/lanes.hpp"
#include "registration/local/windows/window_grid.hpp"

#include <warpalign/device.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace warpalign::detail {

/// The batch size for a device, 1 to `most` frames: enough to occupy a GPU, or few enough for
/// the caches of a CPU.
[[nodiscard]] inline std::int64_t batch_of(const Device& device, const WindowGrid& grid,
                                           std::size_t most) {
  constexpr double gpu_bytes = 256e6;
  constexpr double cpu_bytes = 16e6;
  constexpr double bytes_per_pixel = 30;
  const double frame = bytes_per_pixel * static_cast<double>(grid.window.plane()) *
                       static_cast<double>(grid.origins.size());
  const double cache_bytes = device.info().kind == DeviceKind::cpu ? cpu_bytes : gpu_bytes;
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(cache_bytes / frame), 1,
                                  static_cast<std::int64_t>(most));
}

/// A division of frames into parts. Each lane processes one part after the other.
struct Division {
  std::size_t frames_of_part = 1;
  std::size_t parts = 1;
  std::size_t lanes = 1;
};

/// Divides frames into parts of at most `batch` frames: one part for each lane, unless the parts
/// would be too small to occupy the device.
[[nodiscard]] inline Division divided(const Device& device, const WindowGrid& grid,
                                      std::size_t frames, std::int64_t batch) {
  constexpr std::size_t gpu_pixels = std::size_t{1} << 21;
  constexpr std::size_t cpu_pixels = std::size_t{1} << 16;
  const std::size_t pixels = static_cast<std::size_t>(grid.window.plane()) * grid.origins.size();
  const std::size_t min_pixels = device.info().kind == DeviceKind::cpu ? cpu_pixels : gpu_pixels;
  const auto divide_up = [](std::size_t n, std::size_t by) { return (n + by - 1) / by; };
  Division division;
  division.frames_of_part =
      std::min(std::max(divide_up(frames, lanes_of(device)), divide_up(min_pixels, pixels)),
               std::min(frames, static_cast<std::size_t>(batch)));
  division.parts = divide_up(frames, division.frames_of_part);
  division.lanes = std::min(division.parts, lanes_of(device));
  return division;
}

}  // namespace warpalign::detail
