// The refinement at full resolution, on cuts of photographs whose pixels are means over their
// areas.
#include "registration/refinement/refinement.hpp"

#include "registration/search/drawn_pair.hpp"
#include "support/corners.hpp"
#include "support/devices.hpp"
#include "support/photographs.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <optional>
#include <random>
#include <vector>

namespace {

namespace detail = warpalign::detail;
using detail::FitOptions;
using detail::FitResult;
using warpalign::Affine;
using warpalign::Homography;
using warpalign::Motion;
using warpalign::Shape;
using warpalign::Similarity;

constexpr Shape coarse_shape{130, 120, 1};
constexpr Shape fine_shape{200, 190, 1};

const reference::Plane& bridge() {
  static const reference::Plane plane = test::photograph("bridge.jpg");
  return plane;
}

/// A cut whose moving image has the higher resolution.
class Pair : public test::DrawnPair {
 public:
  Pair(const warpalign::Device& device, const Similarity& similarity)
      : DrawnPair(device, coarse_shape, fine_shape), fitter_(device), refinement_(device) {
    const auto pair = test::cut(bridge(), {coarse_shape, fine_shape, similarity, 2});
    truth = Homography(pair.truth);
    coarse.assign(pair.reference.values.begin(), pair.reference.values.end());
    fine.assign(pair.moving.values.begin(), pair.moving.values.end());
    show();
  }
  void show(const std::vector<std::uint8_t>* coarse_mask = nullptr,
            const std::vector<std::uint8_t>* fine_mask = nullptr) {
    take(reference, coarse, coarse_mask);
    take(moving, fine, fine_mask);
  }
  /// Fits from one pixel of the finer image away from the truth.
  std::optional<FitResult> fit(Motion motion = Motion::similarity) {
    return fit_from(Homography(Affine::translation(0.8, -0.6)) * truth, motion);
  }
  std::optional<FitResult> fit_from(const Homography& start, Motion motion) {
    const FitOptions options{motion, 20, 0.0005, 0.03, detail::min_illumination_cell};
    return refinement_.fit({stream, clock, reference, moving, start, unit_weights}, fitter_, options);
  }
  double off(const std::optional<FitResult>& result) const {
    return result ? test::max_corner_distance(result->matrix, truth, coarse_shape) : 1e9;
  }

  Homography truth;
  std::vector<float> coarse, fine;

 private:
  detail::SimilarityFit fitter_;
  detail::Refinement refinement_;
};

/// Equal dots, 40 pixels apart. About one correlation length from the optimum the steps are short.
std::vector<float> dots_of(const Shape& shape) {
  const auto from_dot = [](std::int64_t x) {
    return std::remainder(static_cast<double>(x) - 20, 40);
  };
  std::vector<float> pixels;
  for (std::int64_t y = 0; y < shape.height; ++y) {
    for (std::int64_t x = 0; x < shape.width; ++x) {
      const double far = std::hypot(from_dot(x), from_dot(y));
      pixels.push_back(static_cast<float>(100 * std::exp(-far * far / (2 * 3 * 3))));
    }
  }
  return pixels;
}

void add_noise(std::vector<float>& pixels, float deviation, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, deviation);
  for (float& value : pixels) value += normal(random);
}

}  // namespace

TEST_CASE("refinement: images of different resolution are compared at the same point spread") {
  test::on_every_device([](const warpalign::Device& device) {
    for (const double scale : {1.02, 1.5, 2.0, 3.0}) {
      CAPTURE(scale);
      Pair pair(device, {3, scale, {2, -1}});
      for (const Motion motion : {Motion::similarity, Motion::homography}) {
        const auto found = pair.fit(motion);
        // The error is in pixels of the finer image, and a coarse pixel covers several. The
        // corners lie outside the overlap.
        CHECK(pair.off(found) <= 0.03 * scale * (motion == Motion::homography ? 3 : 1));
        // With equal sharpness only interpolation errors are left; a sigma that is off by a
        // quarter leaves 3e-4 and more.
        CHECK(found->correlation > 0.9999);
        CHECK(found->converged);
      }
    }
  });
}

// In a strongly oblique view, one image may be finer at the near end of a plane, and the other one
// at the centre.
TEST_CASE("refinement: the image of lower resolution may be the finer one at the centre") {
  test::on_every_device([](const warpalign::Device& device) {
    Pair pair(device, {3, 1.5, {2, -1}});
    for (const double scale : {0.6, 0.3, 0.1}) {
      CAPTURE(scale);
      const Homography start(Similarity{0, scale, {}}.matrix(coarse_shape, fine_shape));
      std::optional<FitResult> found;
      CHECK_NOTHROW(found = pair.fit_from(start, Motion::homography));
      CHECK((!found || std::isfinite(found->correlation)));
    }
  });
}

TEST_CASE("refinement: noisy images are smoothed more, which removes most of the error") {
  test::on_every_device([](const warpalign::Device& device) {
    Pair pair(device, {-2, 1.3, {-3, 2}});
    const double pixels = 130 * 120;
    std::vector<double> errors;
    for (const float deviation : {20.0F, 60.0F}) {
      add_noise(pair.coarse, deviation, 3);
      add_noise(pair.fine, deviation, 4);
      pair.show();
      const auto found = pair.fit();
      errors.push_back(pair.off(found));
      // The error of a shift from 10 000 pixels grows with the ratio of noise to slopes, and with
      // its square as far as noise correlates with noise. Corners are off by a few times as much.
      CHECK(errors.back() <= (deviation < 30 ? 0.4 : 2.5));
      // Without smoothing the correlation would be that of a photograph of standard deviation 50
      // or so under this noise.
      REQUIRE(found.has_value());
      CHECK(found->correlation > (deviation < 30 ? 0.95 : 0.8));
      CHECK(found->pixels < pixels);
    }
  });
}

TEST_CASE("refinement: neither uneven illumination nor masked content causes an error") {
  test::on_every_device([](const warpalign::Device& device) {
    Pair pair(device, {1, 1.4, {1, 1}});
    for (std::size_t i = 0; i < pair.fine.size(); ++i) {
      const float across = static_cast<float>(i % 200) / 199;
      pair.fine[i] = (0.4F + 1.2F * across) * pair.fine[i] + 60 * across;
    }
    pair.show();
    // Cells of eight pixels reduce the effect of illumination that changes by a fifth within each
    // cell to some tenths of a pixel.
    CHECK(pair.off(pair.fit()) <= 0.4);
    // A quarter of both images shows another scene, which does not move.
    std::vector<std::uint8_t> coarse_mask(pair.coarse.size(), 1), fine_mask(pair.fine.size(), 1);
    for (std::size_t i = 0; i < pair.coarse.size(); ++i) {
      if (i % 130 > 30 || i / 130 > 90) continue;
      pair.coarse[i] = static_cast<float>(i % 5) * 60;
      coarse_mask[i] = 0;
    }
    for (std::size_t i = 0; i < pair.fine.size(); ++i) {
      if (i % 200 < 150) continue;
      pair.fine[i] = static_cast<float>(i % 7) * 40;
      fine_mask[i] = 0;
    }
    for (const bool of_coarse : {false, true}) {
      pair.show(of_coarse ? &coarse_mask : nullptr, &fine_mask);
      CHECK(pair.off(pair.fit()) <= 0.6);
    }
    pair.show(&coarse_mask);
    CHECK(pair.off(pair.fit()) <= 1);  // the other scene in the moving image is an outlier
  });
}

TEST_CASE("refinement: a fit without overlap fails") {
  test::on_every_device([](const warpalign::Device& device) {
    Pair pair(device, {1, 1.4, {1, 1}});
    const Homography truth = pair.truth;
    pair.truth = Homography(Affine::translation(400, 0)) * truth;
    CHECK_FALSE(pair.fit().has_value());
    pair.truth = truth;
    CHECK(pair.off(pair.fit()) <= 0.05);  // which does not affect the next fit
  });
}

TEST_CASE("refinement: a fit that still moves after its last step fails") {
  test::on_every_device([](const warpalign::Device& device) {
    constexpr Shape shape{260, 240, 1};
    test::DrawnPair pair(device, shape, shape);
    const std::vector<float> dots = dots_of(shape);
    pair.take(pair.reference, dots);
    pair.take(pair.moving, dots);
    detail::SimilarityFit fitter(device);
    detail::Refinement refinement(device);
    const auto settled = [&](double beside, Motion motion) {
      const Homography start(Affine::translation(beside, 0));
      return refinement.settle(
          {pair.stream, pair.clock, pair.reference, pair.moving, start, pair.unit_weights}, fitter,
          motion);
    };
    const auto arrives = [&](double beside, Motion motion) {
      const auto found = settled(beside, motion);
      REQUIRE(found.has_value());
      CHECK(test::max_corner_distance(*found, Homography(), shape) <= 0.02);
    };
    for (const Motion motion : {Motion::translation, Motion::rigid, Motion::similarity}) {
      CAPTURE(static_cast<int>(motion));
      arrives(5, motion);  // which takes about eight steps
      // After twelve steps it still moves by two thirds of a pixel. A few more would suffice, but
      // a fit that is so far off may just as well converge to another pose.
      CHECK_FALSE(settled(7.5, motion).has_value());
    }
    // Motions with more parameters are allowed more steps.
    for (const Motion motion : {Motion::affine, Motion::homography}) {
      CAPTURE(static_cast<int>(motion));
      arrives(7.5, motion);
    }
  });
}
