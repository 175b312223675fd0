// Parts of one task that pass through a device at the same time.
#pragma once

#include <cstddef>
#include <functional>

namespace warpalign::detail {

/// Calls work(lane, part) once for each of `parts` parts. Every lane takes one part after the
/// other, the first lane on the calling thread and each other one on a thread of its own: so one of
/// them uploads, or computes on the host, while the device works for another. After a failure no
/// part is begun any more, and it is thrown when all lanes have ended.
void run_in_lanes(std::size_t lanes, std::size_t parts,
                  const std::function<void(std::size_t lane, std::size_t part)>& work);

}  // namespace warpalign::detail
