// The likelihood ratio by which a richer model is chosen, against the distribution that it must
// have where the simpler model is true.
#include "registration/similarity/model_comparison.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace {

using warpalign::detail::is_significant;
using warpalign::detail::ModelComparison;
using warpalign::detail::Predictions;

using Field = std::vector<double>;

constexpr std::int64_t side = 64;
constexpr std::size_t pixels = side * side;

// White noise of variance 1, averaged over (2 reach + 1)^2 pixels on a torus and scaled back.
Field noise(std::mt19937& random, std::int64_t reach) {
  std::normal_distribution<double> normal;
  Field white(pixels);
  for (double& value : white) value = normal(random);
  Field smooth(pixels);
  for (std::int64_t y = 0; y < side; ++y) {
    for (std::int64_t x = 0; x < side; ++x) {
      double sum = 0;
      for (std::int64_t v = -reach; v <= reach; ++v) {
        for (std::int64_t u = -reach; u <= reach; ++u) {
          const std::int64_t row = (y + v + side) % side;
          const std::int64_t column = (x + u + side) % side;
          sum += white[static_cast<std::size_t>(row * side + column)];
        }
      }
      smooth[static_cast<std::size_t>(y * side + x)] = sum / static_cast<double>(2 * reach + 1);
    }
  }
  return smooth;
}

double dot(const Field& a, const Field& b) {
  double sum = 0;
  for (std::size_t i = 0; i < pixels; ++i) sum += a[i] * b[i];
  return sum;
}

// The least squares coefficients of two patterns in a field.
std::array<double, 2> coefficients(const Field& field, const Field& p, const Field& q) {
  const double pp = dot(p, p), pq = dot(p, q), qq = dot(q, q);
  const double fp = dot(field, p), fq = dot(field, q);
  const double determinant = pp * qq - pq * pq;
  return {(fp * qq - fq * pq) / determinant, (fq * pp - fp * pq) / determinant};
}

std::vector<float> as_float(const Field& field) { return {field.begin(), field.end()}; }

// The ratio for a scene under noise whose `effect` the richer model, with two parameters more, can
// explain: patterns as smooth as a scene's slopes.
double ratio(ModelComparison& comparison, std::mt19937& random, std::int64_t reach, double effect) {
  const Field scene = noise(random, 2);
  const Field error = noise(random, reach);
  const Field p = noise(random, 1);
  const Field q = noise(random, 1);
  Field image(pixels);
  for (std::size_t i = 0; i < pixels; ++i) {
    image[i] = 5 + 3 * scene[i] + 0.5 * error[i] + effect * p[i];
  }
  Field rest(pixels);
  for (std::size_t i = 0; i < pixels; ++i) rest[i] = image[i] - 5 - 3 * scene[i];
  const auto [a, b] = coefficients(rest, p, q);
  Field richer(pixels);
  for (std::size_t i = 0; i < pixels; ++i) richer[i] = 3 * scene[i] + a * p[i] + b * q[i];
  const std::vector<std::uint8_t> counts(pixels, 1);
  const auto image_values = as_float(image);
  const auto simpler_values = as_float(scene);
  const auto richer_values = as_float(richer);
  return comparison.likelihood_ratio(
      {side, side, image_values, simpler_values, richer_values, counts});
}

// The rows of the left `width` columns of an image from right to left, or left to right.
template <class Pixel>
std::vector<Pixel> columns_of(const std::vector<Pixel>& image, std::int64_t width, bool mirrored) {
  std::vector<Pixel> result;
  for (std::int64_t y = 0; y < side; ++y) {
    for (std::int64_t x = 0; x < width; ++x) {
      result.push_back(image[static_cast<std::size_t>(y * side + (mirrored ? width - 1 - x : x))]);
    }
  }
  return result;
}

}  // namespace

namespace {

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
  // Less the line of least squares through (prediction, image), by the normal equations about the
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
  // Tukey's biweight of the larger residual, beyond 4.685 deviations of normal ones whose median is
  // that of these.
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
  // The sum over all shifts of up to six pixels along each axis, and less than the smaller side, of
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

TEST_CASE("model comparison: the ratio of small images, by its formula") {
  ModelComparison comparison;
  std::mt19937 random(12);
  std::normal_distribution<float> normal;
  struct Size {
    std::int64_t width, height;
  };
  // Also such that fewer shifts than six pixels are possible.
  for (const auto& [width, height] : {Size{14, 13}, Size{41, 4}, Size{5, 50}, Size{17, 16}}) {
    CAPTURE(width);
    const auto n = static_cast<std::size_t>(width * height);
    std::vector<float> image(n), simpler(n), richer(n);
    std::vector<std::uint8_t> counts(n, 1);
    float error = 0;
    float effect = 0;
    for (std::size_t i = 0; i < n; ++i) {
      // Both are alike from pixel to pixel, so that their autocorrelations are not 0.
      error = 0.6F * error + normal(random);
      effect = 0.7F * effect + normal(random);
      simpler[i] = 4 * normal(random) - 2;
      richer[i] = simpler[i] + 0.3F * effect;
      image[i] = 20 + 1.5F * (simpler[i] + 0.3F * effect) + error;
      if (i % 29 == 3) image[i] += 40;  // what neither explains
      if (i % 7 == 2) counts[i] = 0;
      if (counts[i] == 0) image[i] = simpler[i] = 1e6F;  // which must not matter
    }
    const Predictions predictions{width, height, image, simpler, richer, counts};
    // Sums in another order.
    CHECK(comparison.likelihood_ratio(predictions) ==
          doctest::Approx(Oracle(predictions).ratio()).epsilon(1e-9));
  }
}

TEST_CASE("model comparison: mirrored images have the same ratio") {
  ModelComparison comparison;
  std::mt19937 random(9);
  const Field scene = noise(random, 2);
  const Field other = noise(random, 2);
  // Sheared, so that what correlates along one diagonal does not along the other.
  const auto sheared = [](const Field& field) {
    std::vector<float> result;
    for (std::int64_t i = 0; i < side * side; ++i) {
      const std::int64_t y = i / side;
      result.push_back(
          static_cast<float>(field[static_cast<std::size_t>(y * side + (i + y) % side)]));
    }
    return result;
  };
  const std::vector<float> image = sheared(scene);
  const std::vector<float> noisy = as_float(noise(random, 0));
  const std::vector<float> difference = sheared(other);
  std::vector<float> simpler = image;
  std::vector<float> richer = image;
  for (std::size_t i = 0; i < pixels; ++i) {
    richer[i] += 0.3F * noisy[i] + 0.3F * difference[i];
    simpler[i] = richer[i] + 0.4F * difference[i];
  }
  // Widths that are a multiple of eight, and are not.
  for (const std::int64_t width : {64, 61, 5}) {
    CAPTURE(width);
    const std::vector<std::uint8_t> counts(static_cast<std::size_t>(width * side), 1);
    std::array<double, 2> ratios{};
    for (const bool mirrored : {false, true}) {
      const auto of_image = columns_of(image, width, mirrored);
      const auto of_simpler = columns_of(simpler, width, mirrored);
      const auto of_richer = columns_of(richer, width, mirrored);
      ratios[mirrored ? 1 : 0] =
          comparison.likelihood_ratio({width, side, of_image, of_simpler, of_richer, counts});
    }
    CHECK(ratios[0] != 0);
    CHECK(ratios[1] == doctest::Approx(ratios[0]).epsilon(1e-9));
  }
}

TEST_CASE(
    "model comparison: chi-squared where the simpler model is true, correlated noise or not") {
  ModelComparison comparison;
  std::mt19937 random(3);
  for (const std::int64_t reach : {0, 1, 2}) {
    CAPTURE(reach);
    constexpr int draws = 300;
    double sum = 0;
    int above = 0;
    for (int i = 0; i < draws; ++i) {
      const double value = ratio(comparison, random, reach, 0);
      sum += value;
      if (value > 9.21) ++above;  // the quantile of 0.99
    }
    // The mean of chi-squared with two degrees of freedom is 2, its standard error over the draws
    // 0.12; gain and offset take a part, and autocorrelations are estimated. Without Bartlett's
    // formula it would be 6 and 12 under correlated noise.
    CHECK(sum / draws >= 1.5);
    CHECK(sum / draws <= 2.6);
    CHECK(above <= 12);  // 3 expected
  }
}

TEST_CASE("model comparison: an effect is found that stands out from the noise") {
  ModelComparison comparison;
  std::mt19937 random(4);
  for (int i = 0; i < 20; ++i) {
    // An effect of 0.2 in noise of 0.5 over some 500 independent pixels.
    CHECK(is_significant(ratio(comparison, random, 1, 0.2), 2));
    CHECK_FALSE(is_significant(ratio(comparison, random, 1, 0), 2));
  }
}

TEST_CASE("model comparison: pixels that neither model explains lose their weight") {
  ModelComparison comparison;
  std::mt19937 random(5);
  const Field scene = noise(random, 2);
  const Field error = noise(random, 0);
  const Field p = noise(random, 1);
  std::vector<float> image(pixels), simpler(pixels), richer(pixels);
  const std::vector<std::uint8_t> counts(pixels, 1);
  for (std::size_t i = 0; i < pixels; ++i) {
    const bool covered = i % 23 == 0;
    image[i] = static_cast<float>(covered ? 40 : scene[i] + 0.1 * error[i] + 0.1 * p[i]);
    simpler[i] = static_cast<float>(scene[i]);
    richer[i] = static_cast<float>(scene[i] + 0.1 * p[i]);
  }
  // The effect is as strong as the noise, so that half of the variance goes.
  CHECK(comparison.likelihood_ratio({side, side, image, simpler, richer, counts}) > 1000);
}

TEST_CASE("model comparison: too few pixels, equal models and the threshold") {
  ModelComparison comparison;
  std::mt19937 random(6);
  const auto image = as_float(noise(random, 1));
  const auto other = as_float(noise(random, 1));
  std::vector<std::uint8_t> counts(pixels, 1);
  CHECK(comparison.likelihood_ratio({side, side, image, other, other, counts}) == 0);
  counts.assign(pixels, 0);
  std::fill_n(counts.begin(), 99, std::uint8_t{1});
  CHECK(comparison.likelihood_ratio({side, side, image, other, image, counts}) == 0);
  // Quantiles of chi-squared for a probability of 1e-6.
  CHECK_FALSE(is_significant(27.63, 2));
  CHECK(is_significant(27.64, 2));
  CHECK_FALSE(is_significant(33.37, 4));
  CHECK(is_significant(33.38, 4));
  CHECK_FALSE(is_significant(-5, 4));
}
