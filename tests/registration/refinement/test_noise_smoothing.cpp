// How much a fit smooths noisy images, compared with integrals over their spectra.
#include "registration/refinement/noise_smoothing.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numbers>
#include <random>
#include <vector>

namespace {

using std::numbers::pi;
using warpalign::detail::PairStatistics;

// An isotropic power spectrum of the scene: density per pixel as a function of frequency in
// radians per pixel.
using Spectrum = std::function<double(double)>;

// The integral of f over the plane of frequencies up to the Nyquist frequency, per pixel.
double over_frequencies(const Spectrum& f) {
  constexpr int steps = 4000;
  const double step = pi / steps;
  double sum = 0;
  for (int i = 0; i < steps; ++i) {
    const double k = (i + 0.5) * step;
    sum += f(k) * k * step;
  }
  return sum / (2 * pi);
}

double gaussian(double k, double sigma) { return std::exp(-k * k * sigma * sigma / 2); }

// The statistics of a pair of registered images, each with white noise of `density`.
PairStatistics statistics_at(const Spectrum& scene, double density, double illumination,
                             double sigma) {
  PairStatistics statistics;
  statistics.sigma = sigma;
  statistics.pixels = 1e5;
  const auto filtered = [&](double k) { return std::pow(gaussian(k, sigma), 2); };
  statistics.residual =
      illumination + over_frequencies([&](double k) { return 2 * density * filtered(k); });
  statistics.slope =
      over_frequencies([&](double k) { return k * k / 2 * (scene(k) + density) * filtered(k); });
  return statistics;
}

// The variance of a shift estimate that minimises the squared difference of the filtered images,
// to first order and per pixel: the products of the noise with the scene's slopes and with its
// own, divided by the squared curvature.
double variance(const Spectrum& scene, double density, double sigma) {
  const double noise = over_frequencies([&](double k) {
    return k * k / 2 * std::pow(gaussian(k, sigma), 4) *
           (2 * density * scene(k) + density * density);
  });
  const double curvature = over_frequencies(
      [&](double k) { return k * k / 2 * std::pow(gaussian(k, sigma), 2) * scene(k); });
  return noise / (curvature * curvature);
}

Spectrum power_law(double strength, double corner, double exponent) {
  return [=](double k) { return strength / (1 + std::pow(k / corner, exponent)); };
}

}  // namespace

TEST_CASE("noise: the chosen smoothing has nearly the smallest variance") {
  const std::vector<double> sigmas{1.1, 2.2, 4.4, 8.8, 17.6};
  for (const double density : {1.0, 30.0, 100.0, 500.0, 1600.0}) {
    for (const double corner : {0.05, 0.15, 0.5}) {
      for (const double illumination : {0.0, 50.0}) {
        const Spectrum scene = power_law(2e5 / (corner * corner) * 0.01, corner, 4);
        std::vector<PairStatistics> evaluations;
        std::vector<double> truth;
        for (const double sigma : sigmas) {
          evaluations.push_back(statistics_at(scene, density, illumination, sigma));
          truth.push_back(variance(scene, density, sigma));
        }
        const std::size_t chosen = warpalign::detail::best_smoothing(evaluations);
        double minimum = truth[0];
        for (std::size_t i = 0; i + 1 < truth.size(); ++i) minimum = std::min(minimum, truth[i]);
        CAPTURE(density);
        CAPTURE(corner);
        CAPTURE(illumination);
        // One step in sigma away from the best costs up to about twice its variance.
        CHECK(truth[chosen] <= 1.6 * minimum);
      }
    }
  }
}

TEST_CASE("noise: its variance is separated from unmodelled illumination, which smoothing keeps") {
  const Spectrum scene = power_law(1e4, 0.2, 4);
  for (const double illumination : {0.0, 300.0}) {
    const PairStatistics sharp = statistics_at(scene, 100, illumination, 1);
    const PairStatistics smooth = statistics_at(scene, 100, illumination, 2);
    // 2 density / (4 pi sigma^2). Frequencies beyond Nyquist's, which pixels do not have, add 1e-4
    // of it.
    CHECK(warpalign::detail::noise_variance(sharp, smooth) ==
          doctest::Approx(2 * 100 / (4 * pi)).epsilon(1e-3));
  }
  CHECK(warpalign::detail::noise_at_sigma(8, 1, 2) == doctest::Approx(2));
}

TEST_CASE("noise: clean textured pairs are not smoothed, noisy smooth ones are") {
  CHECK_FALSE(warpalign::detail::may_be_noisy(statistics_at(power_law(1e4, 0.5, 4), 1, 0, 1)));
  CHECK(warpalign::detail::may_be_noisy(statistics_at(power_law(1e4, 0.05, 4), 400, 0, 1)));
}

TEST_CASE("noise: no smoothing without two evaluations and slopes") {
  CHECK(warpalign::detail::best_smoothing({}) == 0);
  const std::vector<PairStatistics> flat{
      {1, 1, 100, 4, 0}, {2, 1, 100, 1, 0}, {4, 1, 100, 0.25, 0}};
  CHECK(warpalign::detail::best_smoothing(std::span(flat).first(1)) == 0);
  CHECK(warpalign::detail::best_smoothing(flat) == 0);
}

TEST_CASE("noise: the statistics of a pair follow from its sums") {
  using namespace warpalign::detail;
  // Means 2 and 5, standard deviations 3 and 4, the correlation 0.6, and mean square slopes 2 and
  // 6.
  warpalign::SimilaritySumsResult sums;
  sums.pixels = 1000;
  sums.reference = 2 * 1000;
  sums.moving = 5 * 1000;
  sums.reference_square = (4 + 9) * 1000;
  sums.moving_square = (25 + 16) * 1000;
  sums.product = (10 + 0.6 * 3 * 4) * 1000;
  sums.absolute = 1.5 * 1000;
  sums.hessian[0] = 2 * 1000;
  sums.hessian[5] = 6 * 1000;
  const PairStatistics statistics = pair_statistics(sums, 7, 1.5, 1.25);
  CHECK(statistics.pixels == 1000);
  CHECK(statistics.residual == 7);
  CHECK(statistics.sigma == 1.5);
  CHECK(statistics.scale == 1.25);
  CHECK(statistics.slope == doctest::Approx(4));
  // The variance that a linear relation between the pixels does not explain.
  CHECK(residual_under_global_illumination(sums) == doctest::Approx(16 * (1 - 0.36)));
  // The square of the standard deviation, which is sqrt(pi / 2) times the mean absolute value.
  CHECK(residual_variance(sums) == doctest::Approx(1.5 * 1.5 * pi / 2).epsilon(1e-4));
  sums.moving_square = 24 * 1000;  // below the square of the mean, as rounding may make it
  CHECK(residual_under_global_illumination(sums) == 0);
}

TEST_CASE("noise: a pair counts as noisy if its residual may explain a tenth of the slopes") {
  using warpalign::detail::may_be_noisy;
  // The moving image contributes half of the residual at scale 1, and a fifth at scale 2. White
  // noise of variance v smoothed by a Gaussian of sigma s has the mean square slope v / (2 s^2).
  for (const double scale : {1.0, 2.0}) {
    for (const double sigma : {1.0, 3.0}) {
      CAPTURE(scale);
      CAPTURE(sigma);
      const double slope = 8 / (1 + scale * scale) / (2 * sigma * sigma);
      CHECK(may_be_noisy({sigma, scale, 100, 8, 9.9 * slope}));
      CHECK_FALSE(may_be_noisy({sigma, scale, 100, 8, 10.1 * slope}));
    }
  }
}

TEST_CASE("noise: a residual that grows under smoothing is not noise") {
  using warpalign::detail::noise_variance;
  CHECK(noise_variance({1, 1, 100, 4, 1}, {2, 1, 100, 5, 1}) == 0);
  CHECK(noise_variance({1, 1, 100, 5, 1}, {2, 1, 100, 2, 1}) == doctest::Approx(4));
  CHECK(warpalign::detail::noise_at_sigma(9, 3, 1) == doctest::Approx(81));
}

TEST_CASE("noise: the smoothing minimises the formula for the variance") {
  // Random statistics at sigmas that double; the first two give the noise.
  std::mt19937 random(6);
  std::uniform_real_distribution<double> uniform;
  std::array<int, 4> chosen{};
  for (int draw = 0; draw < 2000; ++draw) {
    const double noise = std::exp(6 * uniform(random));
    std::vector<PairStatistics> evaluations;
    double slope = 1 + noise * std::exp(2 * uniform(random));
    for (double sigma = 1; sigma < 20; sigma *= 2) {
      const double residual = 5 + noise / (sigma * sigma);
      evaluations.push_back(
          {sigma, 1 + uniform(random), 1000 + 500 * uniform(random), residual, slope});
      slope *= 0.1 + 0.8 * uniform(random);
    }
    // Mean square slopes without noise: a tenth more than the estimated noise is subtracted, but
    // they are no less than with more smoothing.
    const auto noise_at = [&](std::size_t i) { return noise / std::pow(evaluations[i].sigma, 2); };
    std::vector<double> slopes(evaluations.size());
    for (std::size_t i = evaluations.size(); i-- > 0;) {
      const PairStatistics& one = evaluations[i];
      const double of_noise =
          noise_at(i) / (1 + one.scale * one.scale) / (2 * one.sigma * one.sigma);
      slopes[i] = std::max(one.slope - 1.1 * of_noise, 0.0);
      if (i + 1 < slopes.size()) slopes[i] = std::max(slopes[i], slopes[i + 1]);
    }
    // (P S(sqrt(2) sigma) + P^2 / (128 pi sigma^4)) / (n S(sigma)^2), where P is 4 pi sigma^2
    // times the noise, and S(sqrt(2) sigma) is halfway between S(sigma) and S(2 sigma).
    std::size_t best = 0;
    double least = INFINITY;
    for (std::size_t i = 0; i + 1 < slopes.size(); ++i) {
      const double sigma = evaluations[i].sigma;
      const double density = 4 * pi * sigma * sigma * noise_at(i);
      const double between = std::sqrt(slopes[i] * slopes[i + 1]);
      const double noises = density * density / (128 * pi * std::pow(sigma, 4));
      const double variance =
          (density * between + noises) / (evaluations[i].pixels * slopes[i] * slopes[i]);
      if (variance < least) {
        least = variance;
        best = i;
      }
    }
    const std::size_t found = warpalign::detail::best_smoothing(evaluations);
    CHECK(found == best);
    ++chosen[found];
  }
  for (const int times : chosen)
    CHECK(times > 4);  // each sigma was the best one several times, so all are compared
}
