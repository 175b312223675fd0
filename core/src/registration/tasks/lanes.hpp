// Sums in several independent lanes, which compilers turn into vector instructions.
#pragma once

#include <array>
#include <cstddef>
#include <numeric>

namespace warpalign::detail {

inline constexpr std::size_t lane_count = 8;

/// Partial sums.
using Lanes = std::array<double, lane_count>;

[[nodiscard]] inline double total(const Lanes& sums) {
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

/// Calls add(i, lane) for each i below `count`. `add` accumulates into the given lane.
template <class Add>
void for_each_in_lanes(std::size_t count, const Add& add) {
  std::size_t i = 0;
  for (; i + lane_count <= count; i += lane_count) {
    for (std::size_t lane = 0; lane < lane_count; ++lane) add(i + lane, lane);
  }
  for (; i < count; ++i) add(i, 0);
}

}  // namespace warpalign::detail
