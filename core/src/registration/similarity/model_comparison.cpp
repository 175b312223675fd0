// Whether a richer model explains a pair of images significantly better than a simpler one.
#include "registration/similarity/model_comparison.hpp"

#include "registration/tukey.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace warpalign::detail {

namespace {

constexpr double deviation_per_median = 1.4826;   // of normally distributed residuals
constexpr std::int64_t farthest_correlation = 6;  // in pixels, along each axis
constexpr double min_pixels = 100;
// How often a richer model may be taken where the simpler one is true.
constexpr double false_alarms = 1e-6;

double square(double x) { return x * x; }

// The gain and the offset for which image = gain prediction + offset holds best.
struct Line {
  double gain = 0, offset = 0;
};

Line fitted(std::span<const float> image, std::span<const float> prediction,
            std::span<const double> weights) {
  double w = 0, x = 0, y = 0, xx = 0, xy = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (!(weights[i] > 0)) continue;
    const double p = prediction[i];
    w += weights[i];
    x += weights[i] * p;
    y += weights[i] * image[i];
    xx += weights[i] * p * p;
    xy += weights[i] * p * image[i];
  }
  const double variance = xx - x * x / w;
  const double gain = variance > 0 ? (xy - x * y / w) / variance : 0;
  return {gain, (y - gain * x) / w};
}

double weighted_squares(std::span<const double> weights, std::span<const double> residuals) {
  double sum = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) sum += weights[i] * square(residuals[i]);
  return sum;
}

// The sum of a[i] b[i]. Eight sums at a time become vector instructions.
double product(const double* a, const double* b, std::int64_t count) {
  constexpr std::int64_t lanes = 8;
  std::array<double, lanes> sums{};
  std::int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    for (std::int64_t k = 0; k < lanes; ++k) {
      sums[static_cast<std::size_t>(k)] += a[i + k] * b[i + k];
    }
  }
  double sum = std::accumulate(sums.begin(), sums.end(), 0.0);
  for (; i < count; ++i) sum += a[i] * b[i];
  return sum;
}

// The sums over the pixels of the products of an image with itself, shifted by (x, y) of -reach to
// reach and 0 to reach. All shifts of a row are taken together, whose neighbours stay in the cache.
class ProductsAtShifts {
 public:
  ProductsAtShifts(const std::vector<double>& image, std::int64_t width, std::int64_t height,
                   std::int64_t reach) {
    for (std::int64_t row = 0; row < height; ++row) {
      const double* here = image.data() + row * width;
      for (std::int64_t y = 0; y <= std::min(reach, height - 1 - row); ++y) {
        const double* there = here + y * width;
        for (std::int64_t x = -reach; x <= reach; ++x) {
          at(x, y) += product(here + std::max<std::int64_t>(-x, 0),
                              there + std::max<std::int64_t>(x, 0), width - std::abs(x));
        }
      }
    }
  }
  double& at(std::int64_t x, std::int64_t y) {
    return sums_[static_cast<std::size_t>(y * across + x + farthest_correlation)];
  }

 private:
  static constexpr std::int64_t across = 2 * farthest_correlation + 1;
  std::array<double, static_cast<std::size_t>(across*(farthest_correlation + 1))> sums_{};
};

}  // namespace

void ModelComparison::find_residuals(const Predictions& predictions,
                                     std::span<const float> prediction,
                                     std::vector<double>& residuals) const {
  const Line line = fitted(predictions.image, prediction, weights_);
  residuals.resize(weights_.size());
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    residuals[i] = predictions.counts[i] != 0
                       ? predictions.image[i] - line.gain * prediction[i] - line.offset
                       : 0;
  }
}

// A pixel's weight follows from the larger of its two residuals, so that it favours neither model.
void ModelComparison::weigh(const Predictions& predictions) {
  sorted_.clear();
  const auto larger = [&](std::size_t i) {
    return std::max(std::abs(simpler_[i]), std::abs(richer_[i]));
  };
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    if (predictions.counts[i] != 0) sorted_.push_back(larger(i));
  }
  const auto middle = sorted_.begin() + static_cast<std::ptrdiff_t>(sorted_.size() / 2);
  std::nth_element(sorted_.begin(), middle, sorted_.end());
  const double scale = tukey_constant * deviation_per_median * *middle;
  if (!(scale > 0)) return;
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    if (predictions.counts[i] == 0) continue;
    weights_[i] = square(std::max(1 - square(larger(i) / scale), 0.0));
  }
}

double ModelComparison::correlated_pixels(const Predictions& predictions) const {
  const std::int64_t width = predictions.width;
  const std::int64_t height = predictions.height;
  const std::int64_t reach = std::min({farthest_correlation, width - 1, height - 1});
  ProductsAtShifts residuals(richer_, width, height, reach);
  ProductsAtShifts differences(difference_, width, height, reach);
  const double all = residuals.at(0, 0) * differences.at(0, 0);
  if (!(all > 0)) return 1;
  double sum = 1;
  for (std::int64_t y = 0; y <= reach; ++y) {
    for (std::int64_t x = y == 0 ? 1 : -reach; x <= reach; ++x) {
      sum += 2 * residuals.at(x, y) * differences.at(x, y) / all;
    }
  }
  return std::max(sum, 1.0);
}

double ModelComparison::likelihood_ratio(const Predictions& predictions) {
  weights_.assign(predictions.counts.begin(), predictions.counts.end());
  double pixels = 0;
  for (const double weight : weights_) pixels += weight;
  if (!(pixels >= min_pixels)) return 0;
  const auto find_both = [&] {
    find_residuals(predictions, predictions.simpler, simpler_);
    find_residuals(predictions, predictions.richer, richer_);
  };
  find_both();
  weigh(predictions);
  find_both();
  pixels = 0;
  for (const double weight : weights_) pixels += weight;
  const double of_simpler = weighted_squares(weights_, simpler_);
  const double of_richer = weighted_squares(weights_, richer_);
  if (!(pixels >= min_pixels) || !(of_richer > 0)) return 0;
  difference_.resize(weights_.size());
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    const double root = std::sqrt(weights_[i]);
    difference_[i] = root * (simpler_[i] - richer_[i]);
    richer_[i] *= root;
  }
  return (of_simpler - of_richer) * pixels / (of_richer * correlated_pixels(predictions));
}

// For 2 k degrees of freedom, the probability that chi-squared exceeds x is
// exp(-x/2) (1 + x/2 + ... + (x/2)^(k - 1) / (k - 1)!).
bool is_significant(double likelihood_ratio, int parameters) {
  const double half = std::max(likelihood_ratio, 0.0) / 2;
  double term = 1;
  double sum = 1;
  for (int i = 1; i < parameters / 2; ++i) {
    term *= half / i;
    sum += term;
  }
  return std::exp(-half) * sum < false_alarms;
}

}  // namespace warpalign::detail
