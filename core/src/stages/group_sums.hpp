// Sums that work groups have left, added up in double.
#pragma once

#include <cstddef>
#include <span>

namespace warpalign::detail {

/// Sum number `sum` of partials that hold those of `groups` groups one behind the other.
inline double added_up(std::span<const float> partials, std::size_t groups, std::size_t sum) {
  double total = 0;
  for (std::size_t g = 0; g < groups; ++g) {
    total += static_cast<double>(partials[sum * groups + g]);
  }
  return total;
}

}  // namespace warpalign::detail
