// How long the strips are that work groups march along.
#pragma once

#include <cstdint>
#include <limits>

namespace warpalign::backend {

/// Work that is cut into strips along one axis.
struct ColumnBlocks {
  std::int64_t length = 1;   ///< of the axis
  std::int64_t abreast = 1;  ///< strips side by side on the other axes
  int chunk = 1;             ///< a strip is a number of chunks, and costs two more to warm up
  std::int64_t slots = 1;    ///< groups that a device has at work at once
};

/// Chunks a strip, from `least` to `most`: long strips read little twice; a device is busy to the
/// end when its last round of groups is nearly full. Of all lengths, that of the shortest rounds
/// together.
[[nodiscard]] inline int chunks_per_column_block(const ColumnBlocks& column_blocks, int minimum,
                                                 int maximum) {
  const auto rounded_up = [](std::int64_t n, std::int64_t by) { return (n + by - 1) / by; };
  int best = minimum;
  std::int64_t best_cost = std::numeric_limits<std::int64_t>::max();
  for (int chunks = minimum; chunks <= maximum; ++chunks) {
    const std::int64_t groups =
        column_blocks.abreast *
        rounded_up(column_blocks.length, std::int64_t{chunks} * column_blocks.chunk);
    const std::int64_t cost = rounded_up(groups, column_blocks.slots) * (chunks + 2);
    if (cost < best_cost) {
      best = chunks;
      best_cost = cost;
    }
  }
  return best;
}

}  // namespace warpalign::backend
