// Chooses the length of the column blocks that work groups stream along.
#pragma once

#include <cstdint>
#include <limits>

namespace warpalign::backend {

/// Work that is cut into column blocks along one axis.
struct ColumnBlocks {
  std::int64_t length = 1;           ///< length of the axis
  std::int64_t parallel_blocks = 1;  ///< number of column blocks side by side on the other axes
  int chunk = 1;  ///< length of a chunk; a column block is some chunks, plus two to warm up
  std::int64_t slots = 1;  ///< work groups that the device runs at once
};

/// The number of chunks per column block, from `minimum` to `maximum`, with the least total time of
/// all waves of work groups. Long column blocks read few samples twice; short ones can fill the
/// last wave, so that the device stays busy to the end.
[[nodiscard]] inline int chunks_per_column_block(const ColumnBlocks& column_blocks, int minimum,
                                                 int maximum) {
  const auto rounded_up = [](std::int64_t n, std::int64_t by) { return (n + by - 1) / by; };
  int best = minimum;
  std::int64_t best_cost = std::numeric_limits<std::int64_t>::max();
  for (int chunks = minimum; chunks <= maximum; ++chunks) {
    const std::int64_t groups =
        column_blocks.parallel_blocks *
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
