// How long the strips are that work groups march along.
#pragma once

#include <cstdint>
#include <limits>

namespace warpalign::backend {

/// Work that is cut into strips along one axis.
struct Strips {
  std::int64_t length = 1;   ///< of the axis
  std::int64_t abreast = 1;  ///< strips side by side on the other axes
  int chunk = 1;             ///< a strip is a number of chunks, and costs two more to warm up
  std::int64_t slots = 1;    ///< groups that a device has at work at once
};

/// Chunks a strip, from `least` to `most`: long strips read little twice; a device is busy to the
/// end when its last round of groups is nearly full. Of all lengths, that of the shortest rounds
/// together.
[[nodiscard]] inline int chunks_a_strip(const Strips& strips, int least, int most) {
  const auto rounded_up = [](std::int64_t n, std::int64_t by) { return (n + by - 1) / by; };
  int best = least;
  std::int64_t best_cost = std::numeric_limits<std::int64_t>::max();
  for (int chunks = least; chunks <= most; ++chunks) {
    const std::int64_t groups =
        strips.abreast * rounded_up(strips.length, std::int64_t{chunks} * strips.chunk);
    const std::int64_t cost = rounded_up(groups, strips.slots) * (chunks + 2);
    if (cost < best_cost) {
      best = chunks;
      best_cost = cost;
    }
  }
  return best;
}

}  // namespace warpalign::backend
