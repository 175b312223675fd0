// Rotation and scale between drawn images, from their log-polar spectra.
#include "registration/proposers/rotation_scale_search.hpp"

#include "registration/search/drawn_pair.hpp"
#include "support/devices.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace {

namespace detail = warpalign::detail;
using detail::RotationScaleLimits;
using detail::RotationScalePeak;
using detail::RotationScaleSearch;
using warpalign::Affine;
using warpalign::Homography;
using warpalign::Point;
using warpalign::RegistrationOptions;
using warpalign::Shape;
using warpalign::Similarity;

constexpr std::int64_t side = 64;
constexpr Shape square{side, side, 1};

class Pair : public test::DrawnPair {
 public:
  Pair(const warpalign::Device& device, const Shape& whole, const Shape& cropped)
      : DrawnPair(device, whole, cropped), search_(device, side, options_) {}

  /// Searches with the whole image as the reference, and crops of `crop` from the moving image.
  std::vector<RotationScalePeak> find(const Shape& crop, bool whole_is_reference = true,
                                      std::size_t maximum = 3,
                                      const RotationScaleLimits& limits = {}) {
    const auto found =
        search_.find(stream, clock, reference, reference.level(stream, clock, {1}), moving,
                     moving.level(stream, clock, {1}), crop, whole_is_reference, limits, maximum);
    return {found.begin(), found.end()};
  }

 private:
  RegistrationOptions options_;
  RotationScaleSearch search_;
};

double degrees_apart(double a, double b) { return std::abs(std::remainder(a - b, 180)); }

// The grid has 64 rows for half a turn and columns as fine: 2.8 degrees and about 5 %. Between its
// points the peak is interpolated to a fraction of that.
void check_near(const RotationScalePeak& peak, double degrees, double scale) {
  CHECK(degrees_apart(peak.rotation_deg, degrees) <= 1.5);
  CHECK(std::abs(std::log(peak.scale / scale)) <= 0.04);
}

Homography matrix_of(const Similarity& similarity) {
  return Homography(similarity.matrix(square, square));
}

}  // namespace

TEST_CASE("rotation-scale search: equal images have the highest possible peak, at 0 and 1") {
  test::on_every_device([](const warpalign::Device& device) {
    Pair pair(device, square, square);
    pair.draw(test::Spots(1), Homography());
    const auto found = pair.find(square);
    REQUIRE_FALSE(found.empty());
    CHECK(degrees_apart(found[0].rotation_deg, 0) <= 1e-3);
    CHECK(found[0].scale == doctest::Approx(1).epsilon(1e-4));
    CHECK(found[0].height == doctest::Approx(1).epsilon(1e-3));
    for (std::size_t i = 1; i < found.size(); ++i) CHECK(found[i].height < 0.5);
  });
}

TEST_CASE("rotation-scale search: finds rotations and scales, whichever image is the reference") {
  test::on_every_device([](const warpalign::Device& device) {
    Pair pair(device, square, square);
    const test::Spots scene(2);
    for (const Similarity& truth : {Similarity{20, 1, {2, -1}}, Similarity{-50, 1.15, {0, 0}},
                                    Similarity{85, 0.88, {-2, 3}}, Similarity{0, 1.2, {1, 1}}}) {
      CAPTURE(truth.rotation_deg);
      pair.draw(scene, matrix_of(truth));
      check_near(pair.find(square, true)[0], truth.rotation_deg, truth.scale);
      check_near(pair.find(square, false)[0], -truth.rotation_deg, 1 / truth.scale);
    }
  });
}

TEST_CASE("rotation-scale search: peaks are sorted, distinct, and at most as many as requested") {
  test::on_every_device([](const warpalign::Device& device) {
    Pair pair(device, square, square);
    pair.draw(test::Spots(3), matrix_of({30, 1.1, {1, 2}}));
    const auto most = pair.find(square, true, 8);
    CHECK(most.size() == 8);
    for (std::size_t i = 0; i < most.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        CHECK(most[j].height >= most[i].height);
        // Four rows of 180 / 64 degrees, or four columns, less the interpolation between grid
        // points.
        const bool apart = degrees_apart(most[i].rotation_deg, most[j].rotation_deg) > 8 ||
                           std::abs(std::log(most[i].scale / most[j].scale)) > 0.12;
        CHECK(apart);
      }
    }
    for (const std::size_t maximum : {0, 1, 3}) {
      const auto found = pair.find(square, true, maximum);
      REQUIRE(found.size() == maximum);
      for (std::size_t i = 0; i < maximum; ++i) CHECK(found[i].height == most[i].height);
    }
  });
}

TEST_CASE("rotation-scale search: nothing is found outside of the limits") {
  test::on_every_device([](const warpalign::Device& device) {
    Pair pair(device, square, square);
    pair.draw(test::Spots(4), matrix_of({40, 1.15, {1, 2}}));
    // Ranges that contain the true pose, and ranges of the same size that do not. The opposite
    // rotation counts.
    for (const double opposite : {0.0, 180.0}) {
      const RotationScaleLimits with{1.05, 1.25, 30 + opposite, 50 + opposite};
      check_near(pair.find(square, true, 1, with)[0], 40, 1.15);
      for (const RotationScaleLimits& limits :
           {RotationScaleLimits{0.85, 1.05, 30 + opposite, 50 + opposite},
            RotationScaleLimits{1.05, 1.25, -50 + opposite, -30 + opposite}}) {
        const auto found = pair.find(square, true, 4, limits);
        for (const RotationScalePeak& peak : found) {
          // One more pixel of the grid, because of the parabola through a peak and its neighbours.
          CHECK(peak.scale > limits.min_scale / 1.05);
          CHECK(peak.scale < limits.max_scale * 1.05);
          const double middle = (limits.min_angle + limits.max_angle) / 2;
          CHECK(degrees_apart(peak.rotation_deg, middle) <= 10 + 2.9);
          CHECK(peak.height < 0.3);
        }
      }
    }
    // Few rows and columns: rotations of about 0 lie at both ends of the surface.
    const auto narrow = pair.find(square, true, 8, {0.97, 1.03, -3, 3});
    REQUIRE_FALSE(narrow.empty());
    for (const RotationScalePeak& peak : narrow) {
      CHECK(degrees_apart(peak.rotation_deg, 0) <= 3 + 2.9);
      CHECK(std::abs(std::log(peak.scale)) <= 0.03 + 0.05);
    }
    CHECK(pair.find(square, true, 8, {1.0201, 1.0202, 0, 0.01}).empty());
  });
}

TEST_CASE("rotation-scale search: content in one crop of a larger image is found there") {
  test::on_every_device([](const warpalign::Device& device) {
    constexpr Shape large{160, 129, 1};
    Pair pair(device, square, large);
    const test::Spots scene(5, 700);
    // Four crops along one axis and three along the other: its remaining row needs no crop of its
    // own.
    CHECK(detail::crops_of(large, square) == 12);
    CHECK(detail::crops_of(square, square) == 1);
    for (const Point corner : {Point{0, 0}, Point{48, 33}, Point{96, 65}}) {
      CAPTURE(corner.x);
      // There lies the content of the whole image, from (20, 20) of the scene on, rotated by 25
      // degrees about the middle of a crop.
      const Affine rotation = Similarity{25, 1, {}}.matrix(square, square);
      const Homography truth(Affine::translation(corner.x, corner.y) * rotation);
      pair.draw(scene, truth);
      const auto found = pair.find(square, true, 2);
      CHECK(found.size() == 24);
      check_near(found[0], 25, 1);
      CHECK(std::is_sorted(found.begin(), found.end(),
                           [](const auto& a, const auto& b) { return a.height > b.height; }));
      check_near(pair.find(square, false, 2)[0], -25, 1);
      // the buffers of the batches are reused
      CHECK(pair.find(square, true, 2)[0].height == found[0].height);
    }
  });
}

TEST_CASE("rotation-scale search: compares gradients or intensities, with or without masks") {
  test::on_every_device([](const warpalign::Device& device) {
    test::DrawnPair pair(device, square, square);
    const test::Spots scene(6);
    const Homography truth = matrix_of({35, 1, {1, -2}});
    pair.draw(scene, truth);
    std::vector<float> moving =
        scene.drawn(square, Homography(Affine::translation(20, 20)) * truth.inverse());
    std::vector<std::uint8_t> mask(moving.size(), 1);
    for (std::size_t i = 0; i < moving.size(); ++i) {
      if (i % side >= 12) continue;
      mask[i] = 0;
      moving[i] = 1000;
    }
    for (const bool masked : {false, true}) {
      CAPTURE(masked);
      if (masked) pair.take(pair.moving, moving, &mask);
      for (const auto spectrum :
           {warpalign::SpectrumSignal::gradient, warpalign::SpectrumSignal::intensity}) {
        RegistrationOptions options;
        options.spectrum = spectrum;
        RotationScaleSearch search(device, side, options);
        CHECK(search.side() == side);
        const auto found =
            search.find(pair.stream, pair.clock, pair.reference,
                        pair.reference.level(pair.stream, pair.clock, {1}), pair.moving,
                        pair.moving.level(pair.stream, pair.clock, {1}), square, true, {}, 2);
        check_near(found[0], 35, 1);
      }
    }
  });
}
