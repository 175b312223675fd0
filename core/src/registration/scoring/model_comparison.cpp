// Tests whether a model with more parameters explains a pair of images significantly better.
#include "registration/scoring/model_comparison.hpp"

#include "registration/numerics/plane_geometry.hpp"
#include "registration/numerics/robust_scale.hpp"
#include "registration/tasks/lanes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace warpalign::detail {

namespace {

constexpr std::int64_t max_correlation_shift = 6;  // in pixels, along each axis
constexpr double min_pixels = 100;
// In larger images, the autocorrelations use rows with about this many pixels in total, and the
// median uses this many residuals. The errors of both are then 1 % or less.
constexpr std::int64_t correlated_sample = 32768;
constexpr std::size_t scale_sample = 16384;
// The probability that the model with more parameters is chosen although the simpler one is true.
constexpr double false_positive_rate = 1e-6;

// The gain and offset that minimize the squared error of image = gain prediction + offset.
struct Line {
  double gain = 0, offset = 0;
};

Line fitted(std::span<const float> image, std::span<const float> prediction,
            std::span<const double> weights) {
  Lanes w{}, x{}, y{}, xx{}, xy{};
  for_each_in_lanes(weights.size(), [&](std::size_t i, std::size_t lane) {
    const double weight = weights[i];
    const double p = prediction[i];
    w[lane] += weight;
    x[lane] += weight * p;
    y[lane] += weight * image[i];
    xx[lane] += weight * p * p;
    xy[lane] += weight * p * image[i];
  });
  const double variance = total(xx) - square(total(x)) / total(w);
  const double gain = variance > 0 ? (total(xy) - total(x) * total(y) / total(w)) / variance : 0;
  return {gain, (total(y) - gain * total(x)) / total(w)};
}

double weighted_squares(std::span<const double> weights, std::span<const double> residuals) {
  Lanes sums{};
  for_each_in_lanes(weights.size(), [&](std::size_t i, std::size_t lane) {
    sums[lane] += weights[i] * square(residuals[i]);
  });
  return total(sums);
}

// The sum of a[i] b[i].
double product(const double* a, const double* b, std::size_t count) {
  Lanes sums{};
  for_each_in_lanes(count, [&](std::size_t i, std::size_t lane) { sums[lane] += a[i] * b[i]; });
  return total(sums);
}

// The sums of the products of an image with itself, shifted by (x, y) with x from -reach to reach
// and y from 0 to reach, over the pixels of every step-th row. Processes all shifts of a row
// together, while its neighbours are in the cache.
class ProductsAtShifts {
 public:
  ProductsAtShifts(const std::vector<double>& image, std::int64_t width, std::int64_t height,
                   std::int64_t reach) {
    const std::int64_t step = std::max<std::int64_t>(width * height / correlated_sample, 1);
    for (std::int64_t row = 0; row < height; row += step) {
      const double* here = image.data() + row * width;
      for (std::int64_t y = 0; y <= std::min(reach, height - 1 - row); ++y) {
        const double* there = here + y * width;
        for (std::int64_t x = -reach; x <= reach; ++x) {
          at(x, y) +=
              product(here + std::max<std::int64_t>(-x, 0), there + std::max<std::int64_t>(x, 0),
                      static_cast<std::size_t>(width - std::abs(x)));
        }
      }
    }
  }
  double& at(std::int64_t x, std::int64_t y) {
    return sums_[static_cast<std::size_t>(y * across + x + max_correlation_shift)];
  }

 private:
  static constexpr std::int64_t across = 2 * max_correlation_shift + 1;
  std::array<double, static_cast<std::size_t>(across*(max_correlation_shift + 1))> sums_{};
};

}  // namespace

void ModelComparison::copy_counted(const Predictions& predictions) {
  const std::size_t pixels = predictions.counts.size();
  weights_.resize(pixels);
  const auto copy = [&](std::span<const float> values, std::vector<float>& to) {
    to.resize(pixels);
    for (std::size_t i = 0; i < pixels; ++i) to[i] = predictions.counts[i] != 0 ? values[i] : 0;
  };
  copy(predictions.image, image_);
  copy(predictions.simpler, simpler_prediction_);
  copy(predictions.richer, richer_prediction_);
  for (std::size_t i = 0; i < pixels; ++i) weights_[i] = predictions.counts[i] != 0 ? 1 : 0;
}

void ModelComparison::compute_residuals() {
  const auto find = [&](std::span<const float> prediction, std::vector<double>& residuals) {
    const Line line = fitted(image_, prediction, weights_);
    residuals.resize(weights_.size());
    for (std::size_t i = 0; i < weights_.size(); ++i) {
      residuals[i] = image_[i] - line.gain * prediction[i] - line.offset;
    }
  };
  find(simpler_prediction_, simpler_residuals_);
  find(richer_prediction_, richer_residuals_);
}

// Derives a pixel's weight from the larger of its two residuals, so that it favours neither model.
void ModelComparison::update_weights() {
  const auto larger = [&](std::size_t i) {
    return std::max(std::abs(simpler_residuals_[i]), std::abs(richer_residuals_[i]));
  };
  // An odd step, so that the sample does not come from a few columns.
  const std::size_t step = (weights_.size() / scale_sample) | 1;
  sampled_.clear();
  for (std::size_t i = 0; i < weights_.size(); i += step) {
    if (weights_[i] > 0) sampled_.push_back(larger(i));
  }
  if (sampled_.empty()) return;
  const auto middle = sampled_.begin() + static_cast<std::ptrdiff_t>(sampled_.size() / 2);
  std::nth_element(sampled_.begin(), middle, sampled_.end());
  const double scale = tukey_constant * deviation_per_median * *middle;
  if (!(scale > 0)) return;
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    weights_[i] *= square(std::max(1 - square(larger(i) / scale), 0.0));
  }
}

double ModelComparison::correlated_pixels(std::int64_t width, std::int64_t height) const {
  const std::int64_t reach = std::min({max_correlation_shift, width - 1, height - 1});
  ProductsAtShifts residuals(richer_residuals_, width, height, reach);
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
  copy_counted(predictions);
  const auto sum_of_weights = [&] {
    return std::accumulate(weights_.begin(), weights_.end(), 0.0);
  };
  if (!(sum_of_weights() >= min_pixels)) return 0;
  compute_residuals();
  update_weights();
  compute_residuals();
  const double pixels = sum_of_weights();
  const double of_simpler = weighted_squares(weights_, simpler_residuals_);
  const double of_richer = weighted_squares(weights_, richer_residuals_);
  if (!(pixels >= min_pixels) || !(of_richer > 0)) return 0;
  difference_.resize(weights_.size());
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    const double root = std::sqrt(weights_[i]);
    difference_[i] = root * (simpler_residuals_[i] - richer_residuals_[i]);
    richer_residuals_[i] *= root;
  }
  return (of_simpler - of_richer) * pixels /
         (of_richer * correlated_pixels(predictions.width, predictions.height));
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
  return std::exp(-half) * sum < false_positive_rate;
}

}  // namespace warpalign::detail
