// The choice between the default grid of a deformation and a finer one.
#include "registration/deformation/grid_choice.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <random>
#include <vector>

namespace {

using warpalign::detail::IntensityVariance;

struct Windows {
  std::vector<float> precisions, counts;
  double correlation = 0;  ///< the mean of those that count
};

/// Windows of two images of one signal, the second one `gain` times as strong, each with its noise.
Windows drawn_windows(double signal, double gain, double noise, double other_noise,
                      const IntensityVariance& reference, const IntensityVariance& moving) {
  std::mt19937 random(5);
  std::normal_distribution<double> normal;
  constexpr int pixels = 125;
  Windows drawn;
  double counted = 0;
  for (int window = 0; window < 4000; ++window) {
    // Every second window is flat.
    const double strength = window % 2 == 0 ? signal : 0;
    double sums[5] = {};
    for (int i = 0; i < pixels; ++i) {
      const double s = strength * normal(random);
      const double a = s + noise * normal(random);
      const double b = gain * s + other_noise * normal(random);
      const double values[5] = {a, b, a * a, b * b, a * b};
      for (int k = 0; k < 5; ++k) sums[k] += values[k] / pixels;
    }
    const double of_a = sums[2] - sums[0] * sums[0] + reference.floor;
    const double of_b = sums[3] - sums[1] * sums[1] + moving.floor;
    drawn.precisions.push_back(static_cast<float>(1 / std::sqrt(of_a)));
    drawn.counts.push_back(window % 3 == 0 ? 0.0F : 1.0F);
    if (window % 3 == 0) continue;
    drawn.correlation += (sums[4] - sums[0] * sums[1]) / std::sqrt(of_a * of_b);
    counted += 1;
  }
  drawn.correlation /= counted;
  return drawn;
}

}  // namespace

TEST_CASE("grid choice: the expected correlation is that of images that differ by their noise") {
  constexpr double gain = 3;
  for (const double noise : {0.01, 0.1, 0.3, 0.6}) {
    for (const double other_noise : {0.01, 0.2, 0.5}) {
      CAPTURE(noise);
      CAPTURE(other_noise);
      // Half of the windows have the signal, of deviation 1.
      const IntensityVariance reference{0.5 + noise * noise, noise * noise / 2};
      const double moved = gain * other_noise;
      const IntensityVariance moving{0.5 * gain * gain + moved * moved, moved * moved / 2};
      const Windows drawn = drawn_windows(1, gain, noise, moved, reference, moving);
      const double expected = warpalign::detail::expected_correlation(
          drawn.precisions, drawn.counts, reference, moving);
      // The variances of flat windows of 125 pixels scatter by 13 %, and those above the noise
      // count as signal; the gain follows from variances that include the noise.
      CHECK(std::abs(expected - drawn.correlation) <= 0.06);
    }
  }
}

TEST_CASE("grid choice: windows that do not count change nothing, and none give no expectation") {
  const IntensityVariance some{1, 0.005};
  const std::vector<float> precisions{1.0F, 0.0F, 5.0F};
  const auto expected = [&](const std::vector<float>& counts) {
    return warpalign::detail::expected_correlation(precisions, counts, some, some);
  };
  CHECK(expected({1, 1, 0}) == expected({1, 0, 0}));
  CHECK(expected({1, 1, 0}) > 0.98);
  CHECK(expected({1, 0, 1}) < expected({1, 0, 0}));
  CHECK(expected({0, 1, 0}) == 0);
}

TEST_CASE("grid choice: the fine grid is for images that show much the same") {
  using warpalign::detail::needs_fine_grid;
  CHECK_FALSE(needs_fine_grid(1, 1));    // drawn deformations
  CHECK(needs_fine_grid(0.75, 1));       // slices of brains
  CHECK(needs_fine_grid(0.3, 0.5));      // volumes of brains
  CHECK_FALSE(needs_fine_grid(0.3, 1));  // stains of other structures
  CHECK_FALSE(needs_fine_grid(0, 0));    // no structure
}
