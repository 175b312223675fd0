// Concurrent lanes that process the parts of one task.
#pragma once

#include <warpalign/device.hpp>

#include <cstddef>
#include <functional>

namespace warpalign::detail {

inline constexpr std::size_t max_lanes = 4;

/// The number of lanes for a device. One lane uploads or computes on the host while the device
/// computes for the others. A GPU is so much faster than the host that only several threads keep it
/// busy. A CPU device uses the host's cores, so two lanes are enough.
[[nodiscard]] inline std::size_t lanes_of(DeviceKind kind) noexcept {
  return kind == DeviceKind::cpu ? 2 : max_lanes;
}
[[nodiscard]] inline std::size_t lanes_of(const Device& device) noexcept {
  return lanes_of(device.info().kind);
}

/// The number of threads for work on the host, when no device is busy.
[[nodiscard]] std::size_t host_threads() noexcept;

/// Calls work(lane, part) once for each of `parts` parts. The first lane runs on the calling
/// thread, every other lane on its own thread, and each lane takes the next part when it is ready.
/// So one lane uploads or computes on the host while the device works for another. After a failure
/// the lanes start no more parts; the function throws the first failure when all lanes have ended.
void run_in_lanes(std::size_t lanes, std::size_t parts,
                  const std::function<void(std::size_t lane, std::size_t part)>& work);

}  // namespace warpalign::detail
