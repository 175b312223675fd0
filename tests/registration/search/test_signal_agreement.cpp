// Answers of two signals that agree: the evidence, and pairs of which neither signal is certain.
#include "registration/search/signal_agreement.hpp"
#include "support/devices.hpp"

#include <warpalign/registrar.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <random>
#include <vector>

namespace {

using warpalign::Affine;
using warpalign::Device;
using warpalign::Modality;
using warpalign::Motion;
using warpalign::Point;
using warpalign::RegistrationOptions;
using warpalign::RegistrationResult;
using warpalign::Shape;
using warpalign::detail::agreement_evidence;
using warpalign::detail::Candidate;
using warpalign::detail::null_test_confidence;

Candidate answer(double shift, double z_score) {
  Candidate candidate;
  candidate.matrix = Affine::translation(shift, 0);
  candidate.null_test = {z_score, 7, 0};
  return candidate;
}

double confidence_of_agreement(double apart, double first_score, double second_score) {
  const Shape shape{300, 400, 1};  // with a diagonal of 500 pixels
  const double evidence =
      agreement_evidence(shape, answer(0, first_score), answer(apart, second_score));
  return null_test_confidence(evidence, 0);
}

TEST_CASE("signal agreement: the confidence falls with the distance, from one half at 2.5 %") {
  CHECK(confidence_of_agreement(12.5, 8, 6) == doctest::Approx(0.5).epsilon(1e-9));
  CHECK(confidence_of_agreement(5, 8, 6) > 0.95);
  CHECK(confidence_of_agreement(0, 8, 6) > 0.999);
  CHECK(confidence_of_agreement(35, 8, 6) < 0.02);  // the nearest unrelated pairs
}

TEST_CASE("signal agreement: weak answers do not count") {
  CHECK(confidence_of_agreement(0, 7, 5) == 0);
  Candidate untested = answer(0, 9);
  untested.null_test.reset();
  CHECK(agreement_evidence({300, 400, 1}, untested, answer(0, 9)) == 0);
}

TEST_CASE("signal agreement: it does not overrule another pose that matches as well") {
  Candidate candidate = answer(0, 6);
  candidate.agreement = 3;
  CHECK(candidate.confidence() > 0.99);
  candidate.other_shift_ratio = 0.97;
  CHECK(candidate.confidence() < 0.5);
  candidate.other_shift_ratio = 0;
  candidate.null_test->second_best_ratio = 0.95;
  CHECK(candidate.confidence() < 0.5);
}

constexpr std::int64_t side = 320;
constexpr double degrees = 8;

Point turned(const Point& p) {
  const double c = std::cos(degrees * std::numbers::pi / 180);
  const double s = std::sin(degrees * std::numbers::pi / 180);
  const Point d{p.x - side / 2.0, p.y - side / 2.0};
  return {c * d.x - s * d.y + side / 2.0 - 7, s * d.x + c * d.y + side / 2.0 + 5};
}

void add_blob(std::vector<float>& image, const Point& at, double sigma, double height) {
  const auto reach = static_cast<std::int64_t>(4 * sigma);
  const auto x0 = static_cast<std::int64_t>(at.x);
  const auto y0 = static_cast<std::int64_t>(at.y);
  for (std::int64_t y = std::max<std::int64_t>(0, y0 - reach); y < std::min(side, y0 + reach);
       ++y) {
    for (std::int64_t x = std::max<std::int64_t>(0, x0 - reach); x < std::min(side, x0 + reach);
         ++x) {
      const double square =
          std::pow(static_cast<double>(x) - at.x, 2) + std::pow(static_cast<double>(y) - at.y, 2);
      image[static_cast<std::size_t>(y * side + x)] +=
          static_cast<float>(height * std::exp(-square / (2 * sigma * sigma)));
    }
  }
}

struct Stains {
  std::vector<float> reference, moving;
};

/// Two images of blobs: a fifth of them differs, a tenth of the others is bright in one image and
/// dark in the other one, and a field of some pixels bends the moving image.
Stains stains(std::uint32_t seed, double bend) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(0, 1);
  const auto place = [&] { return Point{440 * uniform(random) - 60, 440 * uniform(random) - 60}; };
  std::array<double, 4> phase{};
  for (double& value : phase) value = 6 * uniform(random);
  constexpr auto pixels = static_cast<std::size_t>(side * side);
  Stains pair{std::vector<float>(pixels), std::vector<float>(pixels)};
  for (int i = 0; i < 500; ++i) {
    const Point p = place();
    const double sigma = 2 + 5 * uniform(random);
    const double height = (uniform(random) < 0.5 ? -1 : 1) * (0.5 + 0.5 * uniform(random));
    const Point elsewhere = place();
    const bool is_common = uniform(random) < 0.8;
    const double sign = uniform(random) < 0.1 ? -1 : 1;
    add_blob(pair.reference, p, sigma, height);
    const Point q = turned(p);
    const Point u{bend * (std::sin(p.y / 17 + phase[0]) + std::sin(p.x / 21 + phase[1])) / 1.4,
                  bend * (std::sin(p.x / 18 + phase[2]) + std::sin(p.y / 23 + phase[3])) / 1.4};
    add_blob(pair.moving, is_common ? Point{q.x + u.x, q.y + u.y} : elsewhere, sigma,
             sign * height);
  }
  return pair;
}

RegistrationResult registered(const Device& device, const Stains& pair, Modality modality) {
  RegistrationOptions options;
  options.motion = Motion::affine;
  options.modality = modality;
  const auto view = [](const std::vector<float>& pixels) {
    return warpalign::HostImage{pixels.data(), warpalign::PixelType::f32, side, side, 0};
  };
  return warpalign::register_images(device, view(pair.reference), view(pair.moving), options);
}

TEST_CASE("signal agreement: accepts bent pairs of which neither signal alone is certain") {
  test::on_every_device([](const Device& device) {
    int by_one = 0;
    int by_both = 0;
    for (const std::uint32_t seed : {1U, 2U, 3U, 4U}) {
      CAPTURE(seed);
      const Stains pair = stains(seed, 6);
      const bool same = registered(device, pair, Modality::same).reliable;
      const bool other = registered(device, pair, Modality::other).reliable;
      by_one += same || other ? 1 : 0;
      const RegistrationResult both = registered(device, pair, Modality::automatic);
      by_both += both.reliable ? 1 : 0;
      if (!both.reliable) continue;
      // The bend moves places by up to 12 pixels, and an affine transform by less.
      for (const Point& p : {Point{40, 40}, Point{280, 40}, Point{40, 280}, Point{280, 280}}) {
        const Point truth = turned(p);
        const Point found = both.matrix(p);
        CHECK(std::hypot(found.x - truth.x, found.y - truth.y) <= 8);
      }
    }
    CHECK(by_both >= by_one + 1);
  });
}

}  // namespace
