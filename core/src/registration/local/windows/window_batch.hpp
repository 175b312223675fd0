// How many frames pass through a device at once, and how many batches of them.
#pragma once

#include "device/lanes.hpp"
#include "registration/local/windows/window_grid.hpp"

#include <warpalign/device.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace warpalign::detail {

/// As many frames as a device gains by, 1 to `most`: their windows fill a GPU, or what a CPU's
/// caches hold.
[[nodiscard]] inline std::int64_t batch_of(const Device& device, const WindowGrid& grid,
                                           std::size_t most) {
  constexpr double gpu_bytes = 256e6;
  constexpr double cpu_bytes = 16e6;
  constexpr double bytes_per_pixel = 30;
  const double frame = bytes_per_pixel * static_cast<double>(grid.window.plane()) *
                       static_cast<double>(grid.origins.size());
  const double room = device.info().kind == DeviceKind::cpu ? cpu_bytes : gpu_bytes;
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(room / frame), 1,
                                  static_cast<std::int64_t>(most));
}

/// Frames as parts that pass through a device one after the other in each lane.
struct Division {
  std::size_t frames_of_part = 1;
  std::size_t parts = 1;
  std::size_t lanes = 1;
};

/// Parts of at most `batch` frames: as many as there are lanes, if each then still has work enough
/// for a device.
[[nodiscard]] inline Division divided(const Device& device, const WindowGrid& grid,
                                      std::size_t frames, std::int64_t batch) {
  constexpr std::size_t gpu_pixels = std::size_t{1} << 21;
  constexpr std::size_t cpu_pixels = std::size_t{1} << 16;
  const std::size_t pixels = static_cast<std::size_t>(grid.window.plane()) * grid.origins.size();
  const std::size_t enough = device.info().kind == DeviceKind::cpu ? cpu_pixels : gpu_pixels;
  const auto up = [](std::size_t n, std::size_t by) { return (n + by - 1) / by; };
  Division division;
  division.frames_of_part = std::min(std::max(up(frames, lanes_of(device)), up(enough, pixels)),
                                     std::min(frames, static_cast<std::size_t>(batch)));
  division.parts = up(frames, division.frames_of_part);
  division.lanes = std::min(division.parts, lanes_of(device));
  return division;
}

}  // namespace warpalign::detail
