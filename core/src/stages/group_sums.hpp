// Addition of the partial sums of work groups in double precision.
#pragma once

#include <array>
#include <cstddef>
#include <span>

namespace warpalign::detail {

/// The total of sum number `sum` over all work groups. `partials` contains the values of all
/// `groups` groups for the first sum, then those for the second, and so on.
inline double total_of_groups(std::span<const float> partials, std::size_t groups,
                              std::size_t sum) {
  // Several totals, because additions to a single one would depend on each other.
  constexpr std::size_t lanes = 8;
  std::array<double, lanes> totals{};
  const std::span<const float> values = partials.subspan(sum * groups, groups);
  const std::size_t in_lanes = groups - groups % lanes;
  for (std::size_t g = 0; g < in_lanes; g += lanes) {
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      totals[lane] += static_cast<double>(values[g + lane]);
    }
  }
  for (std::size_t g = in_lanes; g < groups; ++g) {
    totals[g % lanes] += static_cast<double>(values[g]);
  }
  double total = 0;
  for (const double part : totals) total += part;
  return total;
}

}  // namespace warpalign::detail
