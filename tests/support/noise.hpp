// Noise of frames.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace test {

inline void add_noise(std::vector<float>& pixels, double deviation, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal(0, deviation);
  for (float& pixel : pixels) pixel += static_cast<float>(normal(random));
}

/// The standard deviation of an image's pixels.
inline double deviation_of(const std::vector<float>& pixels) {
  double sum = 0;
  double square = 0;
  for (const float pixel : pixels) {
    sum += static_cast<double>(pixel);
    square += static_cast<double>(pixel) * static_cast<double>(pixel);
  }
  const auto n = static_cast<double>(pixels.size());
  return std::sqrt(square / n - sum * sum / n / n);
}

}  // namespace test
