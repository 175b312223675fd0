// Adds up the partial sums of work groups in double precision.
#pragma once

#include <cstddef>
#include <span>

namespace warpalign::detail {

/// The total of sum number `sum` over all work groups. `partials` holds, for each sum in turn, the
/// values of all `groups` groups one after the other.
inline double added_up(std::span<const float> partials, std::size_t groups, std::size_t sum) {
  double total = 0;
  for (std::size_t g = 0; g < groups; ++g) {
    total += static_cast<double>(partials[sum * groups + g]);
  }
  return total;
}

}  // namespace warpalign::detail
