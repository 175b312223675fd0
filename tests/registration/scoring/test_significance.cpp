// The null test of a correlation: for unrelated images its z-score must be distributed as a
// standard normal variable, however smooth the images are and wherever their texture is.
#include "reference/filter/common_frames.hpp"
#include "registration/scoring/significance_test.hpp"
#include "support/devices.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace {

namespace detail = warpalign::detail;
using warpalign::Affine;
using warpalign::Homography;
using warpalign::detail::Candidate;
using warpalign::detail::SignificanceTest;

constexpr std::int64_t side = 192;

/// White noise averaged over squares of 2 reach + 1 pixels. Only the upper left `part` of each
/// side varies.
std::vector<float> noise(std::mt19937& random, std::int64_t reach, double part,
                         std::int64_t size = side) {
  std::normal_distribution<float> normal;
  const std::int64_t wide = size + 2 * reach;
  std::vector<float> white(static_cast<std::size_t>(wide * wide));
  for (float& value : white) value = normal(random);
  std::vector<float> image(static_cast<std::size_t>(size * size), 0.0F);
  const auto last = static_cast<std::int64_t>(part * static_cast<double>(size));
  for (std::int64_t y = 0; y < last; ++y) {
    for (std::int64_t x = 0; x < last; ++x) {
      float sum = 0;
      for (std::int64_t v = 0; v <= 2 * reach; ++v) {
        for (std::int64_t u = 0; u <= 2 * reach; ++u) {
          sum += white[static_cast<std::size_t>((y + v) * wide + x + u)];
        }
      }
      image[static_cast<std::size_t>(y * size + x)] = sum;
    }
  }
  return image;
}

/// The middle of a larger image, rotated, by nearest neighbour.
std::vector<float> middle_of(const std::vector<float>& image, std::int64_t from,
                             const Affine& to_image, const warpalign::Shape& shape) {
  std::vector<float> middle;
  for (std::int64_t y = 0; y < shape.height; ++y) {
    for (std::int64_t x = 0; x < shape.width; ++x) {
      const warpalign::Point p = to_image({static_cast<double>(x), static_cast<double>(y)});
      middle.push_back(
          image[static_cast<std::size_t>(std::llround(p.y) * from + std::llround(p.x))]);
    }
  }
  return middle;
}

/// The z-scores of image pairs of the constant's size.
class ZScores {
 public:
  explicit ZScores(const warpalign::Device& device,
                   const warpalign::Shape& reference_shape = {side, side, 1},
                   const warpalign::Shape& moving_shape = {side, side, 1})
      : stream_(device.make_stream()),
        clock_(stream_),
        unit_weights_(device, 4),
        fitter_(device),
        test_(device),
        reference_(device, warpalign::PixelType::f32, reference_shape),
        moving_(device, warpalign::PixelType::f32, moving_shape),
        fields_(device, unit_weights_) {}

  double of(const std::vector<float>& reference, const std::vector<float>& moving,
            const Homography& transform, bool by_orientation) {
    return of_all(reference, moving, {&transform, 1}, by_orientation).front();
  }

  /// The z-scores of one pair under several transforms, tested in one batch.
  std::vector<double> of_all(const std::vector<float>& reference, const std::vector<float>& moving,
                             std::span<const Homography> transforms, bool by_orientation) {
    take(reference_, reference);
    take(moving_, moving);
    fields_.begin_pair();
    const detail::PairContext work{
        stream_,
        clock_,
        reference_,
        moving_,
        unit_weights_,
        fields_,
        by_orientation ? detail::SignalKind::orientation : detail::SignalKind::intensity};
    std::vector<Candidate> candidates;
    for (const Homography& transform : transforms) candidates.push_back(judged(work, transform));
    std::vector<Candidate*> pointers;
    for (Candidate& candidate : candidates) pointers.push_back(&candidate);
    const std::span<const double> found = test_.z_scores(work, pointers);
    return {found.begin(), found.end()};
  }

  /// The effective sample size: the number of white-noise pixels whose correlation would have this
  /// z-score.
  double pixels(const std::vector<float>& reference, const std::vector<float>& moving,
                const Homography& transform) {
    const double z_scores = of(reference, moving, transform, false) / std::atanh(correlation_);
    return z_scores * z_scores;
  }

 private:
  Candidate judged(const detail::PairContext& work, const Homography& transform) {
    Candidate candidate;
    candidate.matrix = transform.affine();
    if (!transform.is_affine()) {
      candidate.motion = warpalign::Motion::homography;
      candidate.richer = transform;
    }
    const detail::FitDirection roles(work, candidate.matrix);
    const auto levels = roles.levels(work, roles.spacing(detail::scoring_side));
    const auto sums = fitter_.evaluate(stream_, clock_, levels.pair,
                                       levels.to_levels(roles.to_fit_frame(candidate.matrix)));
    detail::score_candidate(work, roles, levels, candidate.matrix, sums, candidate);
    correlation_ = candidate.correlation;
    return candidate;
  }

  void take(detail::ImagePyramid& pyramid, const std::vector<float>& pixels) {
    const warpalign::HostImage image{pixels.data(), warpalign::PixelType::f32,
                                     pyramid.shape().width, pyramid.shape().height};
    const warpalign::HostImage* no_mask = nullptr;
    pyramid.take(stream_, clock_, image, no_mask, "an image");
  }

  warpalign::Stream stream_;
  detail::StageClock clock_;
  detail::UnitWeights unit_weights_;
  detail::SimilarityFit fitter_;
  SignificanceTest test_;
  detail::ImagePyramid reference_, moving_;
  detail::GradientFields fields_;
  double correlation_ = 0;
};

/// The z-scores of unrelated pairs at the identity.
std::vector<double> z_scores_of_unrelated(const warpalign::Device& device, std::int64_t reach,
                                          double part, int pairs, bool by_orientation = false) {
  ZScores z_scores(device);
  std::mt19937 random(17);
  std::vector<double> found;
  for (int i = 0; i < pairs; ++i) {
    const std::vector<float> reference = noise(random, reach, part);
    found.push_back(z_scores.of(reference, noise(random, reach, part), {}, by_orientation));
  }
  return found;
}

/// The z-score of a smooth image and itself under a transform.
double z_score_at(const warpalign::Device& device, const Homography& transform) {
  std::mt19937 random(5);
  const std::vector<float> image = noise(random, 2, 1);
  return ZScores(device).of(image, image, transform, false);
}

double root_mean_square(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return std::sqrt(sum / static_cast<double>(values.size()));
}

}  // namespace

TEST_CASE("null test: z-scores of unrelated images have the standard deviation 1") {
  test::on_every_device([](const warpalign::Device& device) {
    struct Kind {
      std::int64_t reach;
      double part;
    };
    // Without Bartlett's factor the smooth kinds would have 3 and 5, and the last kind twice as
    // much.
    for (const auto& [reach, part] : {Kind{0, 1}, Kind{2, 1}, Kind{4, 1}, Kind{2, 0.5}}) {
      CAPTURE(reach);
      CAPTURE(part);
      constexpr int pairs = 60;
      const double deviation = root_mean_square(z_scores_of_unrelated(device, reach, part, pairs));
      // The standard error of a deviation from 60 values is 9 %. Local normalization, which is not
      // linear, adds some correlation.
      CHECK(deviation > 0.65);
      CHECK(deviation < 1.35);
    }
  });
}

TEST_CASE("null test: z-scores of unrelated orientation fields have the standard deviation 1") {
  test::on_every_device([](const warpalign::Device& device) {
    for (const std::int64_t reach : {0, 2, 4}) {
      CAPTURE(reach);
      constexpr int pairs = 60;
      const double deviation =
          root_mean_square(z_scores_of_unrelated(device, reach, 1, pairs, true));
      // As above. If both channels were not treated as independent, it would be 0.7.
      CHECK(deviation > 0.75);
      CHECK(deviation < 1.35);
    }
  });
}

TEST_CASE("null test: an orientation that prevails in both images is not taken for a match") {
  test::on_every_device([](const warpalign::Device& device) {
    ZScores z_scores(device);
    std::mt19937 random(23);
    // Averaged over nine pixels along each row, too.
    const auto streaks = [&] {
      const std::vector<float> image = noise(random, 1, 1);
      std::vector<float> averaged(image.size());
      for (std::size_t i = 0; i < image.size(); ++i) {
        const std::size_t x = i % side;
        for (std::size_t k = 0; k < 9; ++k) averaged[i] += image[i - x + (x + k) % side];
      }
      return averaged;
    };
    std::vector<double> found;
    for (int i = 0; i < 40; ++i) found.push_back(z_scores.of(streaks(), streaks(), {}, true));
    // The standard error of a deviation from 40 values is 11 %. Without subtraction of the fields'
    // mean, hardly any pixel would count as independent.
    const double deviation = root_mean_square(found);
    CHECK(deviation > 0.6);
    CHECK(deviation < 1.4);
  });
}

TEST_CASE("null test: a homography that is affine but for its last digits counts as affine") {
  test::on_every_device([](const warpalign::Device& device) {
    const Affine shift = Affine::translation(0.8, 0.6);
    Homography homography(shift);
    homography.h[6] = 1e-9;
    // Different stages interpolate affine transforms and homographies, both linearly. On CUDA the
    // former use the texture unit, whose weights have eight fractional bits; this changes z-scores
    // by 2e-4. An interpolation of another degree would smooth the images again, which changes
    // z-scores by more than a hundredth.
    const double affine = z_score_at(device, Homography(shift));
    CHECK(affine > 1);
    CHECK(z_score_at(device, homography) == doctest::Approx(affine).epsilon(1e-3));
  });
}

TEST_CASE("null test: a part counts the same in the middle of a larger image, at any rotation") {
  test::on_every_device([](const warpalign::Device& device) {
    constexpr std::int64_t large = 420;
    constexpr std::int64_t small = 256;
    std::mt19937 random(7);
    const std::vector<float> image = noise(random, 3, 1, large);
    ZScores z_scores(device, {large, large, 1}, {small, small, 1});
    const auto pixels_at = [&](double degrees) {
      const Affine to_moving =
          warpalign::Similarity{degrees, 1, {}}.matrix({large, large, 1}, {small, small, 1});
      return z_scores.pixels(image, middle_of(image, large, to_moving.inverse(), {small, small, 1}),
                             to_moving);
    };
    // Rotated by 45 degrees it covers 362 rows and columns. Nearest-neighbour sampling adds a
    // little noise.
    const double upright = pixels_at(0);
    CHECK(upright > 200);
    CHECK(pixels_at(45) == doctest::Approx(upright).epsilon(0.1));
    CHECK(pixels_at(90) == doctest::Approx(upright).epsilon(0.02));
  });
}

TEST_CASE(
    "null test: a wide part counts the same after a rotation that makes it narrower and taller") {
  test::on_every_device([](const warpalign::Device& device) {
    constexpr std::int64_t large = 420;
    constexpr warpalign::Shape wide{256, 128, 1};
    std::mt19937 random(19);
    const std::vector<float> image = noise(random, 3, 1, large);
    ZScores z_scores(device, {large, large, 1}, wide);
    const auto pixels_at = [&](double degrees) {
      const Affine to_moving =
          warpalign::Similarity{degrees, 1, {}}.matrix({large, large, 1}, wide);
      return z_scores.pixels(image, middle_of(image, large, to_moving.inverse(), wide), to_moving);
    };
    // Rotated by 30 degrees it covers 286 columns and 239 rows, by 60 degrees the reverse.
    // Nearest-neighbour sampling adds noise, more of it at a rotation.
    const double upright = pixels_at(0);
    CHECK(upright > 100);
    for (const double degrees : {30.0, 60.0, 90.0}) {
      CHECK(pixels_at(degrees) == doctest::Approx(upright).epsilon(0.15));
    }
  });
}

TEST_CASE("null test: nothing depends on earlier pairs") {
  test::on_every_device([](const warpalign::Device& device) {
    std::mt19937 random(11);
    const std::vector<float> image = noise(random, 2, 1);
    const std::vector<float> other = noise(random, 2, 1);
    // The overlap has all rows, or 72 of them.
    const Homography all;
    const Homography few(Affine::translation(4, 120));
    ZScores z_scores(device);
    const double of_all = z_scores.of(image, other, all, false);
    const double of_few = z_scores.of(image, image, few, false);
    CHECK(of_few == ZScores(device).of(image, image, few, false));
    CHECK(of_all == z_scores.of(image, other, all, false));
  });
}

TEST_CASE("null test: candidates in a batch have the z-scores of single tests") {
  test::on_every_device([](const warpalign::Device& device) {
    std::mt19937 random(13);
    const std::vector<float> image = noise(random, 2, 1);
    const std::vector<float> other = noise(random, 2, 1);
    // More than one batch, of overlaps of different sizes, and one with too few pixels.
    std::vector<Homography> transforms;
    for (int i = 0; i < 12; ++i) {
      transforms.emplace_back(Affine::translation(1.5 * i, i == 7 ? 189.0 : 9.0 * i));
    }
    for (const bool by_orientation : {false, true}) {
      CAPTURE(by_orientation);
      ZScores z_scores(device);
      const std::vector<double> together =
          z_scores.of_all(image, other, transforms, by_orientation);
      REQUIRE(together.size() == transforms.size());
      CHECK(together[7] == 0);
      for (std::size_t i = 0; i < transforms.size(); ++i) {
        CAPTURE(i);
        CHECK(together[i] == z_scores.of(image, other, transforms[i], by_orientation));
      }
    }
  });
}

TEST_CASE("null test: unevenly distributed texture counts less") {
  std::mt19937 random(3);
  const auto evenness = [&](double part) {
    const auto plane = [&] {
      const std::vector<float> image = noise(random, 0, part);
      reference::Channels channels(side, side);
      std::copy(image.begin(), image.end(), channels.values.begin());
      return channels;
    };
    reference::Plane weight(side, side);
    weight.values.assign(weight.values.size(), 1);
    const auto common = reference::common_frames(plane(), plane(), weight, weight, side, side, 0);
    return warpalign::detail::effective_sample_fraction(
        {common.pixels, common.reference_energy, common.moving_energy, common.both_energies});
  };
  // Sums over 17 x 17 pixels of white noise vary by 8 %, independently of each other.
  CHECK(evenness(1) == doctest::Approx(1).epsilon(0.02));
  // Both have texture in the same quarter of the area. The sums reach 8 pixels beyond the quarter,
  // and fall off over as many pixels within it.
  CHECK(evenness(0.5) == doctest::Approx(0.25).epsilon(0.15));
}

TEST_CASE("null test: evenness with no texture, and with texture in separate areas") {
  using warpalign::detail::effective_sample_fraction;
  CHECK(effective_sample_fraction({}) == 0);
  CHECK(effective_sample_fraction({100, 5, 3, 0}) == 0);
  CHECK(effective_sample_fraction({100, 20, 30, 12}) == doctest::Approx(0.5));
  CHECK(effective_sample_fraction({100, 20, 30, 2}) == 1);
}

TEST_CASE("null test: what the best of many trials reaches") {
  // From tables of the normal distribution: the tails 1e-4, 1e-6 and 1e-10 begin at 3.719, 4.753
  // and 6.361. The formula slightly overestimates the tails, so it is never below these values.
  struct Tail {
    double trials, z_scores;
  };
  for (const auto& [trials, z_scores] : {Tail{1, 3.719}, Tail{100, 4.753}, Tail{1e6, 6.361}}) {
    CAPTURE(trials);
    CHECK(warpalign::detail::max_null_z_score(trials) >= z_scores);
    CHECK(warpalign::detail::max_null_z_score(trials) < z_scores + 0.03);
  }
}
