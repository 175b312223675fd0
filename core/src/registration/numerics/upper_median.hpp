// The median of numbers, the larger one of two in the middle.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace warpalign::detail {

/// The number in the middle of the ascending order; of two in the middle, the larger one. Reorders
/// the numbers, of which there must be at least one.
template <class Number>
[[nodiscard]] Number upper_median(std::span<Number> numbers) {
  const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2);
  std::nth_element(numbers.begin(), middle, numbers.end());
  return *middle;
}

/// The same for numbers of which none is negative. Counts by their leading bits, whose order is
/// that of the numbers: a fifth of the time of a partial sort, whose branches no processor
/// predicts.
[[nodiscard]] inline float upper_median_of_magnitudes(std::span<const float> numbers) {
  constexpr std::uint32_t dropped_bits = 19;  // keeps the exponent, and 4 bits of the mantissa
  const auto bucket_of = [](float number) {
    return std::bit_cast<std::uint32_t>(number) >> dropped_bits;
  };
  std::vector<std::uint32_t> counts(std::size_t{1} << (32U - dropped_bits));
  for (const float number : numbers) ++counts[bucket_of(number)];
  std::size_t before = 0;
  std::uint32_t bucket = 0;
  while (before + counts[bucket] <= numbers.size() / 2) before += counts[bucket++];
  std::vector<float> candidates;
  candidates.reserve(counts[bucket]);
  for (const float number : numbers) {
    if (bucket_of(number) == bucket) candidates.push_back(number);
  }
  const auto middle = candidates.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2 - before);
  std::nth_element(candidates.begin(), middle, candidates.end());
  return *middle;
}

}  // namespace warpalign::detail
