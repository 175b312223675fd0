// The number of work-items of a kernel launch.
#pragma once

#include <cstdint>

namespace warpalign {

/// The size of a work-group (CUDA: of a block), in work-items.
struct WorkGroup {
  int columns = 1, rows = 1;
};

/// A grid of whole work-groups; `columns` and `rows` count groups.
struct WorkGrid {
  std::int64_t columns = 1, rows = 1;
  WorkGroup group;
};

/// n / by, rounded up: how many groups of `by` cover n.
[[nodiscard]] constexpr std::int64_t groups_over(std::int64_t n, std::int64_t by) noexcept {
  return (n + by - 1) / by;
}

}  // namespace warpalign
