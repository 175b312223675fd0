// Shifts between drawn images of known rotation and scale.
#include "registration/proposers/translation_search.hpp"

#include "registration/search/drawn_pair.hpp"
#include "support/corners.hpp"
#include "support/devices.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace {

namespace detail = warpalign::detail;
using detail::KnownRotationScale;
using detail::TranslationPeak;
using detail::TranslationSearch;
using warpalign::Homography;
using warpalign::Shape;
using warpalign::Similarity;

constexpr std::int64_t side = 128;
constexpr Shape reference_shape{60, 48, 1};
constexpr Shape moving_shape{44, 52, 1};

Homography matrix_of(const Similarity& similarity) {
  return Homography(similarity.matrix(reference_shape, moving_shape));
}

class Pair : public test::DrawnPair {
 public:
  explicit Pair(const warpalign::Device& device)
      : DrawnPair(device, reference_shape, moving_shape) {}

  std::vector<TranslationSearch::Peaks> peaks(TranslationSearch& search,
                                              std::span<const KnownRotationScale> known) {
    const auto found = search.find(work(), known);
    return {found.begin(), found.end()};
  }
  TranslationSearch::Peaks peaks(TranslationSearch& search, double degrees, double scale = 1,
                                 const detail::MaxShift& max_shift = {}) {
    const KnownRotationScale known{{&degrees, 1}, scale, detail::nearest_base(scale), max_shift};
    return peaks(search, std::span(&known, 1))[0];
  }
};

double off(const TranslationPeak& peak, const Homography& truth) {
  return test::max_corner_distance(Homography(peak.matrix), truth, reference_shape);
}

// A parabola through the highest score and its neighbours is right to a tenth of a pixel of the
// levels, whose spacing is below 2 here. The bilinear warp adds as much.
constexpr double tolerance = 0.4;

}  // namespace

TEST_CASE("translation search: finds shifts at every rotation and scale, and upside down") {
  test::on_every_device([](const warpalign::Device& device) {
    Pair pair(device);
    TranslationSearch search(device, side);
    const test::Spots scene(3);
    for (const Similarity& truth : {Similarity{0, 1, {7, -9}}, Similarity{25, 1, {-6, 4}},
                                    Similarity{-70, 1.4, {5, 8}}, Similarity{110, 0.7, {-4, -5}}}) {
      CAPTURE(truth.rotation_deg);
      pair.draw(scene, matrix_of(truth));
      const auto found = pair.peaks(search, truth.rotation_deg, truth.scale);
      CHECK(off(found[0], matrix_of(truth)) <= tolerance);
      // Unrelated images score about 1, and so do images that are upside down.
      CHECK(found[0].score > 4);
      CHECK(found[1].score < 0.6 * found[0].score);
      const auto opposite = pair.peaks(search, truth.rotation_deg + 180, truth.scale);
      CHECK(off(opposite[1], matrix_of(truth)) <= tolerance);
      CHECK(opposite[1].score == doctest::Approx(found[0].score).epsilon(0.05));
      CHECK(opposite[0].score == doctest::Approx(found[1].score).epsilon(0.05));
    }
  });
}

TEST_CASE("translation search: a batch gives the results of single searches, in order") {
  test::on_every_device([](const warpalign::Device& device) {
    Pair pair(device);
    TranslationSearch alone(device, side);
    TranslationSearch together(device, side, 3);
    pair.draw(test::Spots(4), matrix_of({15, 1.2, {3, -5}}));
    // Batches of three, the last one of each element partly empty, and bases that differ.
    const std::array<double, 4> some{0, 15, 30, 45};
    const std::array<double, 7> more{90, 75, 60, 15, 7.5, 20, 170};
    const std::vector<KnownRotationScale> known{
        {some, 1.2, 1, 0}, {more, 1.2, 1.5, 0}, {some, 0.7, 1 / 1.5, 0}, {more, 1, 1, 12}};
    const auto found = pair.peaks(together, known);
    std::size_t i = 0;
    for (const KnownRotationScale& one : known) {
      for (const double& degrees : one.rotations_deg) {
        const KnownRotationScale single{{&degrees, 1}, one.scale, one.base, one.max_shift};
        const auto expected = pair.peaks(alone, std::span(&single, 1))[0];
        REQUIRE(i < found.size());
        for (std::size_t opposite = 0; opposite < 2; ++opposite) {
          CAPTURE(i);
          // The same sums in another order.
          CHECK(found[i][opposite].score ==
                doctest::Approx(expected[opposite].score).epsilon(1e-3));
          CHECK(off(found[i][opposite], Homography(expected[opposite].matrix)) <= 0.02);
        }
        ++i;
      }
    }
    CHECK(i == found.size());
    CHECK(pair.peaks(together, std::span<const KnownRotationScale>{}).empty());
  });
}

TEST_CASE("translation search: centres are no farther apart than the limit") {
  test::on_every_device([](const warpalign::Device& device) {
    Pair pair(device);
    TranslationSearch search(device, side);
    const test::Spots scene(5);
    for (const Similarity& truth : {Similarity{40, 1, {9, -12}}, Similarity{-10, 1.4, {-12, 9}},
                                    Similarity{3, 0.7, {15, 0}}}) {
      CAPTURE(truth.scale);
      pair.draw(scene, matrix_of(truth));
      // The centres are 15 moving pixels apart.
      for (const double reach : {0.0, 16.5}) {
        const auto found = pair.peaks(search, truth.rotation_deg, truth.scale, {reach});
        CHECK(off(found[0], matrix_of(truth)) <= tolerance);
        const auto opposite = pair.peaks(search, truth.rotation_deg - 180, truth.scale, {reach});
        CHECK(off(opposite[1], matrix_of(truth)) <= tolerance);
      }
      const auto shorter = pair.peaks(search, truth.rotation_deg, truth.scale, {12});
      CHECK(off(shorter[0], matrix_of(truth)) > 1);
      for (const TranslationPeak& peak : shorter) {
        const auto pose = Similarity::of(peak.matrix, reference_shape, moving_shape);
        // One more pixel of the levels, because of the parabola through the highest score.
        CHECK(std::hypot(pose.translation.x, pose.translation.y) <= 12 + 2);
      }
    }
  });
}

TEST_CASE("translation search: limits hold along the moving image's axes at every rotation") {
  test::on_every_device([](const warpalign::Device& device) {
    Pair pair(device);
    TranslationSearch search(device, side);
    const test::Spots scene(5);
    for (const Similarity& truth : {Similarity{40, 1, {5, -14}}, Similarity{-100, 1.4, {-15, 4}},
                                    Similarity{3, 0.7, {15, 2}}}) {
      CAPTURE(truth.rotation_deg);
      pair.draw(scene, matrix_of(truth));
      // 1.5 more pixels, as above: scores beyond a limit are 0, and the parabola through the
      // highest score and its neighbours must not include them.
      const double x = std::abs(truth.translation.x) + 1.5;
      const double y = std::abs(truth.translation.y) + 1.5;
      for (const detail::MaxShift& limit :
           {detail::MaxShift{0, x, y}, {0, x, 0}, {0, 0, y}, {17.5, x, y}}) {
        const auto found = pair.peaks(search, truth.rotation_deg, truth.scale, limit);
        CHECK(off(found[0], matrix_of(truth)) <= tolerance);
        const auto opposite = pair.peaks(search, truth.rotation_deg - 180, truth.scale, limit);
        CHECK(off(opposite[1], matrix_of(truth)) <= tolerance);
      }
      // The larger extent exceeds its limit by 4.5 pixels, the smaller one does not.
      const bool along_x = x > y;
      const auto shorter = pair.peaks(search, truth.rotation_deg, truth.scale,
                                      {0, along_x ? x - 6 : x, along_x ? y : y - 6});
      CHECK(off(shorter[0], matrix_of(truth)) > 1);
      for (const TranslationPeak& peak : shorter) {
        const auto pose = Similarity::of(peak.matrix, reference_shape, moving_shape);
        // Two more pixels of the levels, whose spacing is below 2: one that the limits allow, and
        // one because of the parabola through the highest score.
        CHECK(std::abs(pose.translation.x) <= (along_x ? x - 6 : x) + 4);
        CHECK(std::abs(pose.translation.y) <= (along_x ? y : y - 6) + 4);
      }
    }
  });
}

TEST_CASE("translation search: masked content does not count, in images within larger ones") {
  test::on_every_device([](const warpalign::Device& device) {
    Pair pair(device);
    TranslationSearch search(device, side);
    const test::Spots scene(6);
    const Similarity truth{12, 1, {4, -3}};
    pair.draw(scene, matrix_of(truth));
    // A quarter of the moving image shows another scene, and is masked.
    std::vector<float> moving =
        scene.drawn(moving_shape, Homography(warpalign::Affine::translation(20, 20)) *
                                      matrix_of(truth).inverse());
    std::vector<std::uint8_t> mask(moving.size(), 255);
    for (std::size_t i = 0; i < moving.size(); ++i) {
      if (i % 44 >= 22 || i / 44 >= 26) continue;
      mask[i] = 0;
      moving[i] = i % 3 == 0 ? 100.0F : -100.0F;
    }
    pair.take(pair.moving, moving, &mask);
    const auto found = pair.peaks(search, 12);
    CHECK(off(found[0], matrix_of(truth)) <= tolerance);
    CHECK(found[0].score > 4);
  });
}

TEST_CASE("translation search: gradient orientations match images with reversed contrast") {
  test::on_every_device([](const warpalign::Device& device) {
    Pair pair(device);
    TranslationSearch by_grey_levels(device, side);
    TranslationSearch by_directions(device, side, 2, detail::SignalKind::orientation);
    const test::Spots scene(7);
    for (const Similarity& truth :
         {Similarity{0, 1, {6, -7}}, Similarity{50, 1, {-5, 3}}, Similarity{-100, 1.3, {4, 6}}}) {
      CAPTURE(truth.rotation_deg);
      pair.draw(scene, matrix_of(truth));
      std::vector<float> negative =
          scene.drawn(moving_shape, Homography(warpalign::Affine::translation(20, 20)) *
                                        matrix_of(truth).inverse());
      for (float& value : negative) value = 3 - 2 * value;
      pair.take(pair.moving, negative);
      const std::array<double, 3> degrees{truth.rotation_deg, truth.rotation_deg + 90,
                                          truth.rotation_deg + 180};
      const KnownRotationScale known{degrees, truth.scale, detail::nearest_base(truth.scale), 0};
      const auto found = pair.peaks(by_directions, std::span(&known, 1));
      CHECK(off(found[0][0], matrix_of(truth)) <= tolerance);
      CHECK(off(found[2][1], matrix_of(truth)) <= tolerance);
      // At a wrong rotation, a quarter turn off, nothing matches.
      CHECK(found[0][0].score > 20);
      for (const TranslationPeak& peak : found[1]) CHECK(peak.score < 0.4 * found[0][0].score);
      CHECK(found[2][1].score == doctest::Approx(found[0][0].score).epsilon(0.05));
      const auto grey_levels = pair.peaks(by_grey_levels, truth.rotation_deg, truth.scale);
      CHECK(grey_levels[0].score < 0.4 * found[0][0].score);
    }
  });
}

TEST_CASE("translation search: an orientation that dominates both images is not a match") {
  test::on_every_device([](const warpalign::Device& device) {
    Pair pair(device);
    TranslationSearch search(device, side, 1, detail::SignalKind::orientation);
    // Noise averaged over four times the length along one direction, so that edges run along it.
    const auto streaks = [](std::uint32_t seed, const Shape& shape, double degrees) {
      const warpalign::Affine stretched{0.25, 0, 0, 0, 1, 0};
      const auto rotation = Similarity{degrees, 1, {}}.matrix(shape, shape).inverse();
      return test::Spots(seed, 900).drawn(
          shape, Homography(warpalign::Affine::translation(20, 20)) * stretched * rotation);
    };
    for (const double degrees : {0.0, 35.0, 80.0}) {
      CAPTURE(degrees);
      pair.take(pair.reference, streaks(8, reference_shape, 0));
      pair.take(pair.moving, streaks(9, moving_shape, degrees));
      const auto unrelated = pair.peaks(search, degrees);
      pair.take(pair.moving, streaks(8, moving_shape, degrees));
      const auto related = pair.peaks(search, degrees);
      // If all shifts match equally well, none has a high score.
      CHECK(unrelated[0].score < 0.5 * related[0].score);
    }
  });
}
