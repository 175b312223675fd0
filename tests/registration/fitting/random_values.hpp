// Random values that resemble noisy pixels.
#pragma once

#include <cstddef>
#include <random>
#include <vector>

namespace test {

/// n uniformly distributed values, which depend on n alone.
inline std::vector<float> random_values(std::size_t n, float low, float high) {
  std::mt19937 generator(static_cast<unsigned>(n));
  std::uniform_real_distribution<float> distribution(low, high);
  std::vector<float> values(n);
  for (float& value : values) value = distribution(generator);
  return values;
}

}  // namespace test
