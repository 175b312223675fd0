// The likelihood ratio that selects between nested models, compared with its formula.
#include "registration/scoring/model_comparison.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace {

using warpalign::detail::ModelComparison;
using warpalign::detail::Predictions;

using Field = std::vector<double>;

// The likelihood ratio by its formula, pixel by pixel.
class Oracle {
 public:
  explicit Oracle(const Predictions& predictions)
      : p_(predictions), n_(predictions.image.size()), weights_(n_), both_(2, Field(n_)) {
    for (std::size_t i = 0; i < n_; ++i) weights_[i] = p_.counts[i];
  }

  double ratio() {
    find_residuals();
    weigh();
    find_residuals();
    double all = 0, of_simpler = 0, of_richer = 0;
    for (std::size_t i = 0; i < n_; ++i) {
      all += weights_[i];
      of_simpler += weights_[i] * both_[0][i] * both_[0][i];
      of_richer += weights_[i] * both_[1][i] * both_[1][i];
    }
    return (of_simpler - of_richer) / (correlated() * of_richer / all);
  }

 private:
  // Subtracts the regression line through (prediction, image), by the normal equations about the
  // means.
  void find_residuals() {
    for (std::size_t m = 0; m < 2; ++m) {
      const auto& prediction = m == 0 ? p_.simpler : p_.richer;
      double weight = 0, x = 0, y = 0;
      for (std::size_t i = 0; i < n_; ++i) {
        weight += weights_[i];
        x += weights_[i] * prediction[i];
        y += weights_[i] * p_.image[i];
      }
      double xx = 0, xy = 0;
      for (std::size_t i = 0; i < n_; ++i) {
        const double d = prediction[i] - x / weight;
        xx += weights_[i] * d * d;
        xy += weights_[i] * d * (p_.image[i] - y / weight);
      }
      for (std::size_t i = 0; i < n_; ++i) {
        const double line = y / weight + xy / xx * (prediction[i] - x / weight);
        both_[m][i] = p_.counts[i] != 0 ? p_.image[i] - line : 0;
      }
    }
  }
  // Tukey's biweight of the larger residual, with the limit at 4.685 standard deviations, which
  // the median gives for normal residuals.
  void weigh() {
    std::vector<double> larger(n_), sorted;
    for (std::size_t i = 0; i < n_; ++i) {
      larger[i] = std::max(std::abs(both_[0][i]), std::abs(both_[1][i]));
      if (p_.counts[i] != 0) sorted.push_back(larger[i]);
    }
    std::sort(sorted.begin(), sorted.end());
    const double scale = 4.685 * 1.4826 * sorted[sorted.size() / 2];
    for (std::size_t i = 0; i < n_; ++i) {
      const double part = std::min(larger[i] / scale, 1.0);
      weights_[i] = p_.counts[i] != 0 ? std::pow(1 - part * part, 2) : 0;
    }
  }
  // The sum over all shifts of up to six pixels along each axis, less than the smaller side, of
  // the products of both autocorrelations.
  double correlated() const {
    const std::int64_t reach = std::min<std::int64_t>({6, p_.width - 1, p_.height - 1});
    double sum = 0, all = 0;
    for (std::int64_t v = -reach; v <= reach; ++v) {
      for (std::int64_t u = -reach; u <= reach; ++u) {
        double residuals = 0, differences = 0;
        for (std::int64_t i = 0; i < p_.width * p_.height; ++i) {
          const std::int64_t x = i % p_.width + u;
          const std::int64_t y = i / p_.width + v;
          if (x < 0 || y < 0 || x >= p_.width || y >= p_.height) continue;
          const auto here = static_cast<std::size_t>(i);
          const auto there = static_cast<std::size_t>(y * p_.width + x);
          const double roots = std::sqrt(weights_[here] * weights_[there]);
          residuals += roots * both_[1][here] * both_[1][there];
          differences +=
              roots * (both_[0][here] - both_[1][here]) * (both_[0][there] - both_[1][there]);
        }
        sum += residuals * differences;
        if (u == 0 && v == 0) all = residuals * differences;
      }
    }
    return std::max(sum / all, 1.0);
  }

  const Predictions& p_;
  std::size_t n_;
  Field weights_;
  std::vector<Field> both_;
};

}  // namespace

TEST_CASE("model comparison: the ratio of small images agrees with its formula") {
  ModelComparison comparison;
  std::mt19937 random(12);
  std::normal_distribution<float> normal;
  struct Size {
    std::int64_t width, height;
  };
  // Some sizes allow fewer shifts than six pixels.
  for (const auto& [width, height] : {Size{14, 13}, Size{41, 4}, Size{5, 50}, Size{17, 16}}) {
    CAPTURE(width);
    const auto n = static_cast<std::size_t>(width * height);
    std::vector<float> image(n), simpler(n), richer(n);
    std::vector<std::uint8_t> counts(n, 1);
    float error = 0;
    float effect = 0;
    for (std::size_t i = 0; i < n; ++i) {
      // Neighbouring pixels correlate in both, so that their autocorrelations are not 0.
      error = 0.6F * error + normal(random);
      effect = 0.7F * effect + normal(random);
      simpler[i] = 4 * normal(random) - 2;
      richer[i] = simpler[i] + 0.3F * effect;
      image[i] = 20 + 1.5F * (simpler[i] + 0.3F * effect) + error;
      if (i % 29 == 3) image[i] += 40;  // outliers of both models
      if (i % 7 == 2) counts[i] = 0;
      if (counts[i] == 0) image[i] = simpler[i] = 1e6F;  // ignored pixels
    }
    const Predictions predictions{width, height, image, simpler, richer, counts};
    // Sums in another order.
    CHECK(comparison.likelihood_ratio(predictions) ==
          doctest::Approx(Oracle(predictions).ratio()).epsilon(1e-9));
  }
}
