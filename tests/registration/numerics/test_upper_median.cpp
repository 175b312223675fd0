// The median of numbers, against a sorted copy.
#include "registration/numerics/upper_median.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <random>
#include <span>
#include <vector>

using warpalign::detail::upper_median;
using warpalign::detail::upper_median_of_magnitudes;

namespace {

float from_sorted(std::vector<float> numbers) {
  std::sort(numbers.begin(), numbers.end());
  return numbers[numbers.size() / 2];
}

}  // namespace

TEST_CASE("upper median: equals that of a sorted copy") {
  std::mt19937 random(5);
  std::uniform_real_distribution<float> exponents(-40, 38);
  for (const std::size_t count : {1U, 2U, 3U, 10U, 1001U, 30000U}) {
    CAPTURE(count);
    std::vector<float> numbers(count);
    for (float& number : numbers) number = std::pow(10.0F, exponents(random));
    CHECK(upper_median_of_magnitudes(numbers) == from_sorted(numbers));
    // Nearly alike, and half of them zeros.
    for (float& number : numbers) number = 1 + 1e-6F * exponents(random);
    CHECK(upper_median_of_magnitudes(numbers) == from_sorted(numbers));
    for (std::size_t i = 0; i < count; i += 2) numbers[i] = 0;
    CHECK(upper_median_of_magnitudes(numbers) == from_sorted(numbers));
    const float expected = from_sorted(numbers);
    CHECK(upper_median(std::span(numbers)) == expected);
  }
  const std::vector<float> extremes{0.0F, std::numeric_limits<float>::denorm_min(),
                                    std::numeric_limits<float>::infinity()};
  CHECK(upper_median_of_magnitudes(extremes) == std::numeric_limits<float>::denorm_min());
}
