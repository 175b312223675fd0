// Fits between drawn images: one and many at a time, with one channel and two.
#include "registration/fitting/similarity_fit.hpp"

#include "registration/search/drawn_pair.hpp"
#include "support/corners.hpp"
#include "support/devices.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

namespace {

namespace detail = warpalign::detail;
using detail::FitDirection;
using detail::FitOptions;
using detail::SimilarityFit;
using warpalign::Homography;
using warpalign::Motion;
using warpalign::Shape;
using warpalign::Similarity;

constexpr Shape shape{64, 56, 1};
constexpr Similarity truth{6, 1.02, {1.5, -1}};

Homography matrix_of(const Similarity& similarity) {
  return Homography(similarity.matrix(shape, shape));
}

FitOptions options_of(Motion motion) { return {motion, 15, 0.002, 0.2}; }

/// A pair of images of one size, at full resolution and at a coarser level.
class Pair : public test::DrawnPair {
 public:
  explicit Pair(const warpalign::Device& device, bool resident = false)
      : DrawnPair(device, shape, shape), fitter(device, resident) {
    draw(test::Spots(8), matrix_of(truth));
  }
  FitDirection::Levels levels(double spacing, bool by_directions = false) {
    const detail::PairContext all = work(by_directions);
    return FitDirection(all, matrix_of(truth).affine()).levels(all, spacing);
  }
  SimilarityFit fitter;
};

double off(const Homography& found, const Homography& expected) {
  return test::max_corner_distance(found, expected, shape);
}

/// Starts around the truth. Starts with an index of at least `far` have no overlap.
std::vector<Homography> starts(const FitDirection::Levels& levels, int count, int far) {
  std::vector<Homography> all;
  for (int i = 0; i < count; ++i) {
    const double shift = i >= far ? 60 : 0.3 * (i % 5) - 0.6;
    const Similarity near{6 + 0.2 * (i % 3), 1.02 + 0.003 * (i % 4), {1.5 + shift, -1 - shift}};
    all.push_back(levels.to_levels(matrix_of(near)));
  }
  return all;
}

}  // namespace

TEST_CASE("similarity fit: every motion converges to the truth from nearby") {
  test::on_every_device([](const warpalign::Device& device) {
    Pair pair(device);
    for (const bool by_directions : {false, true}) {
      CAPTURE(by_directions);
      const FitDirection::Levels levels = pair.levels(1, by_directions);
      for (const Motion motion :
           {Motion::rigid, Motion::similarity, Motion::affine, Motion::homography}) {
        CAPTURE(static_cast<int>(motion));
        const Homography start = levels.to_levels(matrix_of({6.5, 1.02, {1, -0.5}}));
        const auto found =
            pair.fitter.fit(pair.stream, pair.clock, levels.pair, start, options_of(motion));
        REQUIRE(found.has_value());
        // Both images are drawn from one formula. Cubic splines interpolate spots of sigma 1.2 and
        // more to a few thousandths. Gradient orientations are not linear in the pixels, and
        // homographies have twice as many parameters.
        CHECK(off(levels.to_images(found->matrix), matrix_of(truth)) <=
              (by_directions ? 0.3 : 0.1));
        CHECK(found->correlation > (by_directions ? 0.8 : 0.98));
        CHECK(found->pixels > 0.7 * 64 * 56);
      }
    }
  });
}

namespace {

// `resident` selects whether the batch of fits stays on the device. The single fits always run on
// the host.
void compare_many(const warpalign::Device& device, bool resident) {
  Pair pair(device, resident);
  const FitDirection::Levels fine = pair.levels(1);
  const FitDirection::Levels coarse = pair.levels(2);
  const FitDirection::Levels directions = pair.levels(1, true);
  for (const Motion motion :
       {Motion::similarity, Motion::affine, Motion::rigid, Motion::homography}) {
    CAPTURE(static_cast<int>(motion));
    const FitOptions options = options_of(motion);
    // More fits than one launch holds, groups whose fits all fail, and empty groups.
    const auto many = starts(fine, 37, 33);
    const auto failing = starts(coarse, 2, 0);
    const auto few = starts(coarse, 3, 2);
    const auto of_directions = starts(directions, 4, 3);
    // The horizon runs through the reference.
    std::vector<Homography> horizon = few;
    horizon[1] = Homography({1, 0, 0, 0, 1, 0, -1.0 / 15, 0, 1});
    const std::vector<SimilarityFit::Group> groups{
        {&fine.pair, many},  {&coarse.pair, failing},           {&coarse.pair, {}},
        {&coarse.pair, few}, {&directions.pair, of_directions}, {&coarse.pair, horizon}};
    for (int run = 0; run < 2; ++run) {  // the second call must not depend on the first
      const auto found = pair.fitter.fit_together(pair.stream, pair.clock, groups, options);
      std::size_t i = 0;
      std::size_t fitted = 0;
      // A single fit of a pair with two channels runs through fit_together() too, so it has its
      // own object.
      SimilarityFit alone(device, false);
      for (const SimilarityFit::Group& group : groups) {
        for (const Homography& start : group.matrices) {
          CAPTURE(i);
          REQUIRE(i < found.size());
          const auto expected = alone.fit(pair.stream, pair.clock, *group.pair, start, options);
          const auto& result = found[i++].result();
          REQUIRE(result.has_value() == expected.has_value());
          if (!result) continue;
          ++fitted;
          CHECK(off(result->matrix, expected->matrix) <= 1e-3);  // the sums are in another order
          CHECK(result->pixels == doctest::Approx(expected->pixels).epsilon(1e-3));
          CHECK(result->converged == expected->converged);
        }
      }
      CHECK(i == found.size());
      CHECK(fitted == 33 + 2 + 3 + 1);
    }
  }
  CHECK(pair.fitter.fit_together(pair.stream, pair.clock, {}, {}).empty());
}

}  // namespace

TEST_CASE("similarity fit: fits in a batch equal single fits, in the order of the groups") {
  test::on_every_device([](const warpalign::Device& device) { compare_many(device, false); });
}

TEST_CASE("similarity fit: a batch that stays on the device equals single fits on the host") {
  test::on_every_device([](const warpalign::Device& device) { compare_many(device, true); });
}

TEST_CASE("similarity fit: sums at many transforms equal those at each") {
  test::on_every_device([](const warpalign::Device& device) {
    Pair pair(device);
    const FitDirection::Levels fine = pair.levels(1);
    const FitDirection::Levels directions = pair.levels(1, true);
    const FitDirection::Levels coarse = pair.levels(2);
    const auto many = starts(fine, 35, 30);
    const auto of_directions = starts(directions, 34, 30);
    auto projective = starts(coarse, 3, 3);
    projective[2].h[6] = 1e-3;
    const std::vector<SimilarityFit::Group> groups{{&directions.pair, of_directions},
                                                   {&fine.pair, many},
                                                   {&coarse.pair, {}},
                                                   {&coarse.pair, projective},
                                                   {&directions.pair, of_directions}};
    const auto found = pair.fitter.evaluate_together(pair.stream, pair.clock, groups);
    SimilarityFit alone(device);
    std::size_t i = 0;
    for (const SimilarityFit::Group& group : groups) {
      for (const Homography& matrix : group.matrices) {
        CAPTURE(i);
        REQUIRE(i < found.size());
        const auto expected = alone.evaluate(pair.stream, pair.clock, *group.pair, matrix);
        const auto& sums = found[i++];
        CHECK(sums.pixels == expected.pixels);
        if (expected.pixels == 0) continue;
        // In single precision, in groups of another size.
        CHECK(sums.product == doctest::Approx(expected.product).epsilon(1e-4));
        CHECK(sums.moving_square == doctest::Approx(expected.moving_square).epsilon(1e-4));
        CHECK(detail::mean_square_slope(sums) ==
              doctest::Approx(detail::mean_square_slope(expected)).epsilon(1e-4));
        CHECK(sums.parameters == (group.matrices.size() == 3 ? 8 : 4));
      }
    }
    CHECK(i == found.size());
    CHECK(pair.fitter.evaluate_together(pair.stream, pair.clock, {}).empty());
  });
}

TEST_CASE("similarity fit: all pixels of the coarser level that lie in the finer one count") {
  test::on_every_device([](const warpalign::Device& device) {
    Pair pair(device);
    for (const bool by_directions : {false, true}) {
      CAPTURE(by_directions);
      const FitDirection::Levels levels = pair.levels(1, by_directions);
      const auto pixels_at = [&](double x, double y) {
        return pair.fitter
            .evaluate(pair.stream, pair.clock, levels.pair,
                      Homography(warpalign::Affine::translation(x, y)))
            .pixels;
      };
      // The slope of a spline needs one more pixel on each side of the finer level's 64 x 56. The
      // shifts end in .5, so that rounding cannot change the result.
      CHECK(pixels_at(10.5, 8.5) == 52 * 46);    // columns 0 ... 51 and rows 0 ... 45
      CHECK(pixels_at(-10.5, -8.5) == 52 * 46);  // columns 12 ... 63 and rows 10 ... 55
    }
  });
}

TEST_CASE("similarity fit: a local illumination model corrects what one gain cannot") {
  test::on_every_device([](const warpalign::Device& device) {
    Pair pair(device);
    // From left to right the moving image becomes twice as bright, and its offset grows.
    std::vector<float> lit = test::Spots(8).drawn(
        shape, Homography(warpalign::Affine::translation(20, 20)) * matrix_of(truth).inverse());
    for (std::size_t i = 0; i < lit.size(); ++i) {
      const float across = static_cast<float>(i % 64) / 63;
      lit[i] = (1 + across) * lit[i] + across;
    }
    const auto image = device.make_image(warpalign::PixelType::f32, shape);
    const auto coefficients = device.make_image(warpalign::PixelType::f32, shape);
    const auto reference =
        test::Spots(8).drawn(shape, Homography(warpalign::Affine::translation(20, 20)));
    auto reference_image = device.make_image(warpalign::PixelType::f32, shape);
    pair.stream.upload(reference.data(), reference.size() * sizeof(float),
                       reference_image.buffer());
    auto moving_image = device.make_image(warpalign::PixelType::f32, shape);
    pair.stream.upload(lit.data(), lit.size() * sizeof(float), moving_image.buffer());
    auto spline = device.make_image(warpalign::PixelType::f32, shape);
    warpalign::PrefilterPlan(device, warpalign::PrefilterSpec{.images = {.shape = shape}})
        .execute(pair.stream, moving_image, spline);
    SimilarityFit::Pair images{{reference_image, spline, nullptr, nullptr, nullptr}, 4, 4, {}};
    images.counted = {64 * 56, 64 * 56};
    FitOptions options = options_of(Motion::similarity);
    const auto residual = [&] {
      const auto sums = pair.fitter.evaluate_under_illumination(pair.stream, pair.clock, images,
                                                                matrix_of(truth), options);
      return sums.absolute / sums.pixels;
    };
    const auto plain = pair.fitter.evaluate(pair.stream, pair.clock, images, matrix_of(truth));
    options.illumination_cell = 8;
    const double local = residual();
    CHECK(local < 0.1 * std::sqrt(plain.moving_square / plain.pixels));
    // The model must not follow noise.
    options.illumination_noise = 10;
    CHECK(residual() > 1.5 * local);
    options.illumination_noise = 0;
    const Homography start = matrix_of({6.3, 1.02, {1.2, -0.8}});
    const auto found = pair.fitter.fit(pair.stream, pair.clock, images, start, options);
    REQUIRE(found.has_value());
    // A single gain gives a wrong transform. The cells are hardly larger than the spots, and take
    // up a part of the spots' contrast.
    const double local_off = off(found->matrix, matrix_of(truth));
    CHECK(local_off <= 0.4);
    options.illumination_cell = 0;
    const auto without = pair.fitter.fit(pair.stream, pair.clock, images, start, options);
    CHECK((!without || off(without->matrix, matrix_of(truth)) > 3 * local_off));
    options.illumination_cell = 8;
    // Known sums at the start are reused, and the result is the same.
    const auto known = pair.fitter.evaluate(pair.stream, pair.clock, images, start);
    const auto again = pair.fitter.fit(pair.stream, pair.clock, images, start, options, &known);
    REQUIRE(again.has_value());
    CHECK(off(again->matrix, found->matrix) <= 1e-9);
    // A pair with nothing in common has no sums.
    const auto apart = pair.fitter.evaluate_under_illumination(
        pair.stream, pair.clock, images, Homography(warpalign::Affine::translation(500, 0)),
        options);
    CHECK(apart.pixels == 0);
  });
}
