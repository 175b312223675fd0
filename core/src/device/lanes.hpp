// Parts of one task that pass through a device at the same time.
#pragma once

#include <warpalign/device.hpp>

#include <cstddef>
#include <functional>

namespace warpalign::detail {

inline constexpr std::size_t max_lanes = 4;

/// Parts that are under way at the same time: one is uploaded, or waits for what the host computes,
/// while the device works for the others. A GPU is so much faster than the host that it takes
/// several threads to keep it busy; a CPU's cores are busy with the device's work.
[[nodiscard]] inline std::size_t lanes_of(DeviceKind kind) noexcept {
  return kind == DeviceKind::cpu ? 2 : max_lanes;
}
[[nodiscard]] inline std::size_t lanes_of(const Device& device) noexcept {
  return lanes_of(device.info().kind);
}

/// Threads that compute on the host at the same time, where nothing runs on a device meanwhile.
[[nodiscard]] std::size_t host_threads() noexcept;

/// Calls work(lane, part) once for each of `parts` parts. Every lane takes one part after the
/// other, the first lane on the calling thread and each other one on a thread of its own: so one of
/// them uploads, or computes on the host, while the device works for another. After a failure no
/// part is begun any more, and it is thrown when all lanes have ended.
void run_in_lanes(std::size_t lanes, std::size_t parts,
                  const std::function<void(std::size_t lane, std::size_t part)>& work);

}  // namespace warpalign::detail
