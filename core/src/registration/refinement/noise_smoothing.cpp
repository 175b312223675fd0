// Chooses the smoothing of a nearly registered pair for the final refinement, by its effect on the
// accuracy under noise.
#include "registration/refinement/noise_smoothing.hpp"

#include "registration/fitting/similarity_fit.hpp"
#include "registration/numerics/correlation.hpp"
#include "registration/numerics/robust_scale.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace warpalign::detail {

namespace {

using std::numbers::pi;

constexpr double noisy_fraction = 0.1;  // fraction of the mean squared slope

// The part of the moving image's mean squared slope that the noise in a residual causes. The model
// assumes noise of the same density in both images, in pixels of each, so the moving image
// contributes 1 / (1 + scale^2) of the residual.
double noise_slope(const PairStatistics& statistics, double residual) {
  const double moving_residual = residual / (1 + statistics.scale * statistics.scale);
  return moving_residual / (2 * statistics.sigma * statistics.sigma);
}

// If noise dominates the slopes, the remainder is uncertain. The margin underestimates it, which
// only leads to more smoothing.
constexpr double noise_with_margin = 1.1;

double slope_without_noise(const PairStatistics& statistics, double noise) {
  return std::max(statistics.slope - noise_with_margin * noise_slope(statistics, noise), 0.0);
}

// The variance of an estimated shift, up to a constant factor; see best_smoothing.
double variance_of(const PairStatistics& statistics, double noise, double slope,
                   double next_slope) {
  const double twice_filtered = std::sqrt(slope * next_slope);
  const double density = 4 * pi * statistics.sigma * statistics.sigma * noise;
  const double noise_product = density * density / (128 * pi * std::pow(statistics.sigma, 4));
  return (density * twice_filtered + noise_product) / (statistics.pixels * slope * slope);
}

}  // namespace

PairStatistics pair_statistics(const SimilaritySumsResult& sums, double residual, double sigma,
                               double scale) {
  return {sigma, scale, sums.pixels, residual, mean_square_slope(sums)};
}

double residual_under_global_illumination(const SimilaritySumsResult& sums) {
  const double mean = sums.moving / sums.pixels;
  const double variance = std::max(sums.moving_square / sums.pixels - mean * mean, 0.0);
  const double correlation =
      correlation_of(Moments{sums.pixels, sums.reference, sums.moving, sums.reference_square,
                             sums.moving_square, sums.product});
  return variance * (1 - correlation * correlation);
}

double residual_variance(const SimilaritySumsResult& sums) {
  return std::pow(deviation_per_mean_absolute * sums.absolute / sums.pixels, 2);
}

bool may_be_noisy(const PairStatistics& statistics) {
  return noise_slope(statistics, statistics.residual) > noisy_fraction * statistics.slope;
}

double noise_at_sigma(double noise, double sigma, double other) {
  return noise * (sigma * sigma) / (other * other);
}

double noise_variance(const PairStatistics& sharp, const PairStatistics& smooth) {
  // Without additional smoothing, the residuals do not tell noise from illumination.
  if (!(smooth.sigma > sharp.sigma)) return 0;
  const double removed = std::max(sharp.residual - smooth.residual, 0.0);
  return removed / (1 - noise_at_sigma(1, sharp.sigma, smooth.sigma));
}

std::size_t best_smoothing(std::span<const PairStatistics> evaluations) {
  if (evaluations.size() < 2) return 0;
  const double noise = noise_variance(evaluations[0], evaluations[1]);
  const auto noise_at = [&](std::size_t i) {
    return noise_at_sigma(noise, evaluations[0].sigma, evaluations[i].sigma);
  };
  // Smoothing reduces slopes, so the slope under more smoothing is a lower bound.
  double smoother_slope = slope_without_noise(evaluations.back(), noise_at(evaluations.size() - 1));
  std::size_t best = 0;
  double minimum = INFINITY;
  for (std::size_t i = evaluations.size() - 1; i-- > 0;) {
    const double slope = std::max(slope_without_noise(evaluations[i], noise_at(i)), smoother_slope);
    const double variance = variance_of(evaluations[i], noise_at(i), slope, smoother_slope);
    smoother_slope = slope;
    if (!std::isfinite(variance) || variance > minimum) continue;
    minimum = variance;  // on ties, the least smoothing wins
    best = i;
  }
  return best;
}

}  // namespace warpalign::detail
