// The likelihood ratio that selects between nested models, compared with the distribution that it
// must have if the simpler model is true.
#include "registration/scoring/model_comparison.hpp"

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

// White noise of variance 1, averaged over (2 reach + 1)^2 pixels on a torus and scaled back to
// variance 1.
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

// The ratio for a noisy scene. The higher-DOF model has two more parameters and can explain
// `effect`: patterns as smooth as a scene's slopes.
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

// The rows of the left `width` columns of an image, optionally mirrored.
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

TEST_CASE("model comparison: mirrored images have the same ratio") {
  ModelComparison comparison;
  std::mt19937 random(9);
  const Field scene = noise(random, 2);
  const Field other = noise(random, 2);
  // Sheared, so that the two diagonals have different autocorrelations.
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
  // Widths that are a multiple of eight, and others.
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
    "model comparison: chi-squared if the simpler model is true, in white and correlated noise") {
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
      if (value > 9.21) ++above;  // the 0.99 quantile
    }
    // The mean of chi-squared with two degrees of freedom is 2, with a standard error over the
    // draws of 0.12; gain and offset take a part, and autocorrelations are estimated. Without
    // Bartlett's formula it would be 6 and 12 in correlated noise.
    CHECK(sum / draws >= 1.5);
    CHECK(sum / draws <= 2.6);
    CHECK(above <= 12);  // 3 expected
  }
}

TEST_CASE("model comparison: an effect that stands out from the noise is significant") {
  ModelComparison comparison;
  std::mt19937 random(4);
  for (int i = 0; i < 20; ++i) {
    // An effect of 0.2 in noise of 0.5 over some 500 independent pixels.
    CHECK(is_significant(ratio(comparison, random, 1, 0.2), 2));
    CHECK_FALSE(is_significant(ratio(comparison, random, 1, 0), 2));
  }
}

TEST_CASE("model comparison: outliers of both models lose their weight") {
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
  // The effect is as strong as the noise, so it explains half of the variance.
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
