// How far a correlation is above chance: for unrelated images it must be distributed as a standard
// normal variable, however smooth they are and wherever their texture is.
#include "registration/similarity/chance_test.hpp"
#include "support/devices.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

namespace {

using warpalign::detail::Candidate;
using warpalign::detail::ChanceTest;
using warpalign::detail::CommonParts;

constexpr std::int64_t side = 192;

/// White noise averaged over squares of 2 reach + 1 pixels, of which only the upper left `part` of
/// each side varies.
std::vector<float> noise(std::mt19937& random, std::int64_t reach, double part) {
  std::normal_distribution<float> normal;
  const std::int64_t wide = side + 2 * reach;
  std::vector<float> white(static_cast<std::size_t>(wide * wide));
  for (float& value : white) value = normal(random);
  std::vector<float> image(static_cast<std::size_t>(side * side), 0.0F);
  const auto last = static_cast<std::int64_t>(part * side);
  for (std::int64_t y = 0; y < last; ++y) {
    for (std::int64_t x = 0; x < last; ++x) {
      float sum = 0;
      for (std::int64_t v = 0; v <= 2 * reach; ++v) {
        for (std::int64_t u = 0; u <= 2 * reach; ++u) {
          sum += white[static_cast<std::size_t>((y + v) * wide + x + u)];
        }
      }
      image[static_cast<std::size_t>(y * side + x)] = sum;
    }
  }
  return image;
}

/// The deviations of unrelated pairs of images at the identity.
std::vector<double> deviations_of_unrelated(const warpalign::Device& device, std::int64_t reach,
                                            double part, int pairs, bool by_gradients = false) {
  namespace detail = warpalign::detail;
  warpalign::Stream stream = device.make_stream();
  detail::StageClock clock(stream);
  detail::Ones ones(device, 4);
  detail::SimilarityFit fitter(device);
  ChanceTest test(device, ones);
  const warpalign::Shape shape{side, side, 1};
  detail::ImagePyramid reference(device, warpalign::PixelType::f32, shape);
  detail::ImagePyramid moving(device, warpalign::PixelType::f32, shape);
  detail::GradientFields fields(device, ones);
  const detail::PairWork work{stream, clock, reference, moving, by_gradients ? &fields : nullptr};
  std::mt19937 random(17);
  std::vector<double> found;
  for (int i = 0; i < pairs; ++i) {
    for (detail::ImagePyramid* pyramid : {&reference, &moving}) {
      const std::vector<float> pixels = noise(random, reach, part);
      const warpalign::HostImage image{pixels.data(), warpalign::PixelType::f32, side, side};
      pyramid->take(stream, clock, image, nullptr, "an image");
    }
    fields.begin_pair();
    Candidate candidate;
    const detail::FitRoles roles(work, candidate.matrix);
    const auto levels = roles.levels(work, ones, roles.spacing(detail::judged_side));
    const auto sums =
        fitter.evaluate(stream, clock, levels.pair, levels.to_levels(candidate.matrix));
    detail::judge(work, roles, levels, candidate.matrix, sums, candidate);
    found.push_back(test.deviations(work, candidate));
  }
  return found;
}

double root_mean_square(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return std::sqrt(sum / static_cast<double>(values.size()));
}

}  // namespace

TEST_CASE("chance: unrelated images deviate by one standard deviation") {
  test::on_every_device([](const warpalign::Device& device) {
    struct Kind {
      std::int64_t reach;
      double part;
    };
    // Without Bartlett's factor the smooth kinds would have 3 and 5, and the last one twice as
    // much.
    for (const auto& [reach, part] : {Kind{0, 1}, Kind{2, 1}, Kind{4, 1}, Kind{2, 0.5}}) {
      CAPTURE(reach);
      CAPTURE(part);
      constexpr int pairs = 60;
      const double deviation =
          root_mean_square(deviations_of_unrelated(device, reach, part, pairs));
      // The standard error of a deviation from 60 values is 9 %; local normalization, which is not
      // linear, adds some correlation of its own.
      CHECK(deviation > 0.65);
      CHECK(deviation < 1.35);
    }
  });
}

TEST_CASE("chance: so do the directions of edges in unrelated images") {
  test::on_every_device([](const warpalign::Device& device) {
    for (const std::int64_t reach : {0, 2, 4}) {
      CAPTURE(reach);
      constexpr int pairs = 60;
      const double deviation =
          root_mean_square(deviations_of_unrelated(device, reach, 1, pairs, true));
      // As above. Were both channels not known to be independent, it would be 0.7.
      CHECK(deviation > 0.75);
      CHECK(deviation < 1.35);
    }
  });
}

TEST_CASE("chance: texture that is not spread evenly counts less") {
  std::mt19937 random(3);
  CommonParts common;
  common.width = common.height = side;
  common.pixels = static_cast<double>(side * side);
  common.reference = noise(random, 0, 1);
  common.moving = noise(random, 0, 1);
  // Sums over 17 x 17 pixels of white noise vary by 8 %, independently of each other.
  CHECK(warpalign::detail::evenness_of(common) == doctest::Approx(1).epsilon(0.02));
  // Both have texture in the same quarter of the area only.
  common.reference = noise(random, 0, 0.5);
  common.moving = noise(random, 0, 0.5);
  // The sums reach 8 pixels beyond the quarter, and fall off over as many within it.
  CHECK(warpalign::detail::evenness_of(common) == doctest::Approx(0.25).epsilon(0.15));
}

TEST_CASE("chance: what the best of many places reaches") {
  // From tables of the normal distribution: the tails 1e-4, 1e-6 and 1e-10 begin at 3.719, 4.753
  // and 6.361. The formula counts the tails slightly too large, so it is never below these.
  struct Tail {
    double places, deviations;
  };
  for (const auto& [places, deviations] : {Tail{1, 3.719}, Tail{100, 4.753}, Tail{1e6, 6.361}}) {
    CAPTURE(places);
    CHECK(warpalign::detail::deviations_by_chance(places) >= deviations);
    CHECK(warpalign::detail::deviations_by_chance(places) < deviations + 0.03);
  }
}
