// Measures how sharp and textured a frame is.
#include "commands/frame_texture.hpp"

#include "io/gray_levels.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <vector>

namespace warpalign::program {
namespace {

/// The variance of the two gradients below, for white noise of variance 1: (10 / 64) (6 / 16) each.
constexpr double noise_gain = 2 * (10.0 / 64) * (6.0 / 16);
/// The second difference below has this standard deviation for white noise of variance 1, and
/// normal values have a median magnitude of 0.6745 standard deviations.
constexpr double median_of_noise = 6 * 0.6745;
/// Noise is overrated by this, so that the accidental structure of noise does not count.
constexpr double caution = 1.25;

/// Sums of five samples of a row or column: the binomial filter (1, 2, 1) / 4, and its convolution
/// with the central difference (1, 0, -1) / 2.
constexpr std::array<double, 5> smooth{0, 0.25, 0.5, 0.25, 0};
constexpr std::array<double, 5> slope{-0.125, -0.25, 0, 0.25, 0.125};
constexpr std::array<double, 5> second{0, 1, -2, 1, 0};

/// The response of a separable 5 x 5 filter.
double response(const float* centre, std::ptrdiff_t width, const std::array<double, 5>& along,
                const std::array<double, 5>& across) {
  double sum = 0;
  for (std::ptrdiff_t y = -2; y <= 2; ++y) {
    double row = 0;
    for (std::ptrdiff_t x = -2; x <= 2; ++x) {
      row += along[static_cast<std::size_t>(x + 2)] * static_cast<double>(centre[y * width + x]);
    }
    sum += across[static_cast<std::size_t>(y + 2)] * row;
  }
  return sum;
}

bool unmasked(const LoadedImage& mask, std::ptrdiff_t x, std::ptrdiff_t y) {
  const auto marks = mask.samples<std::uint8_t>();
  for (std::ptrdiff_t v = y - 2; v <= y + 2; ++v) {
    for (std::ptrdiff_t u = x - 2; u <= x + 2; ++u) {
      if (marks[static_cast<std::size_t>(v * mask.width + u)] == 0) return false;
    }
  }
  return true;
}

}  // namespace

double texture_of(const LoadedImage& frame, const std::optional<LoadedImage>& mask) {
  const std::vector<float> levels = gray_levels(frame);
  const auto width = static_cast<std::ptrdiff_t>(frame.width);
  const auto height = static_cast<std::ptrdiff_t>(frame.height);
  double squares = 0;
  std::vector<float> differences;
  for (std::ptrdiff_t y = 2; y + 2 < height; ++y) {
    for (std::ptrdiff_t x = 2; x + 2 < width; ++x) {
      if (mask && !unmasked(*mask, x, y)) continue;
      const float* centre = levels.data() + y * width + x;
      const double dx = response(centre, width, slope, smooth);
      const double dy = response(centre, width, smooth, slope);
      squares += dx * dx + dy * dy;
      differences.push_back(static_cast<float>(std::abs(response(centre, width, second, second))));
    }
  }
  if (differences.empty() || !std::isfinite(squares)) return -1;
  const auto middle = differences.begin() + static_cast<std::ptrdiff_t>(differences.size() / 2);
  std::nth_element(differences.begin(), middle, differences.end());
  const double noise = static_cast<double>(*middle) / median_of_noise;
  return std::max(0.0, squares / static_cast<double>(differences.size()) -
                           caution * noise_gain * noise * noise);
}

}  // namespace warpalign::program
