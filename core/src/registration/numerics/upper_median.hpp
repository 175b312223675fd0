// The median of numbers, the larger one of two in the middle.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

namespace warpalign::detail {

/// The number in the middle of the ascending order; of two in the middle, the larger one. Reorders
/// the numbers, of which there must be at least one.
template <class Number>
[[nodiscard]] Number upper_median(std::span<Number> numbers) {
  const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2);
  std::nth_element(numbers.begin(), middle, numbers.end());
  return *middle;
}

}  // namespace warpalign::detail
