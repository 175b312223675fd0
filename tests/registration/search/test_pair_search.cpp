// The promises of the search for a pair's transform, on small cuts of photographs, with limits
// that leave little to search.
#include "registration/search/pair_search.hpp"

#include "registration/numerics/transform_distance.hpp"
#include "registration/scoring/significance_test.hpp"
#include "support/corners.hpp"
#include "support/devices.hpp"
#include "support/photographs.hpp"

#include <warpalign/registrar.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace {

namespace detail = warpalign::detail;
using warpalign::Affine;
using warpalign::Effort;
using warpalign::Homography;
using warpalign::HostImage;
using warpalign::Modality;
using warpalign::Motion;
using warpalign::PixelType;
using warpalign::RegistrationOptions;
using warpalign::RegistrationResult;
using warpalign::SearchMethod;
using warpalign::Shape;
using warpalign::Similarity;

constexpr Shape shape{160, 150, 1};

const reference::Plane& bridge() {
  static const reference::Plane plane = test::photograph("bridge.jpg");
  return plane;
}

struct Images {
  std::vector<float> reference, moving;
  Homography truth;
};

std::vector<float> pixels_of(const reference::Plane& plane) {
  return {plane.values.begin(), plane.values.end()};
}

Images cut(const Homography& truth) {
  const auto pair = test::cut_by(bridge(), shape, truth);
  return {pixels_of(pair.reference), pixels_of(pair.moving), truth};
}

Images cut(const Similarity& similarity) {
  return cut(Homography(similarity.matrix(shape, shape)));
}

HostImage view(const std::vector<float>& pixels) {
  return {pixels.data(), PixelType::f32, shape.width, shape.height, 0};
}

RegistrationResult registered(const warpalign::Device& device, const Images& images,
                              const RegistrationOptions& options) {
  return warpalign::register_images(device, view(images.reference), view(images.moving), options);
}

double off(const warpalign::Alignment& found, const Homography& truth) {
  return test::max_corner_distance(found.homography, truth, shape);
}

std::vector<SearchMethod> tried(const RegistrationResult& result) {
  return {result.tried.begin(), result.tried.end()};
}

/// Limits around the rotations and scales of the pairs below.
RegistrationOptions within_limits(Motion motion) {
  RegistrationOptions options;
  options.motion = motion;
  if (motion == Motion::translation) return options;
  options.min_angle = -8;
  options.max_angle = 8;
  if (motion == Motion::rigid || motion == Motion::rotation) return options;
  options.min_scale = 0.9;
  options.max_scale = 1.15;
  return options;
}

// For cuts of 160 x 150 at full resolution whose pixels are not rounded.
constexpr double refined_tolerance = 0.05;

}  // namespace

TEST_CASE("pair search: a translation is found, and an image that is upside down is not") {
  Images images = cut(Similarity{0, 1, {12, -9}});
  const RegistrationOptions options = within_limits(Motion::translation);
  test::on_every_device([&](const warpalign::Device& device) {
    const auto found = registered(device, images, options);
    CHECK(found.reliable);
    CHECK(off(found, images.truth) <= refined_tolerance);
    CHECK(tried(found) == std::vector{SearchMethod::shifts});
    CHECK(found.proposed_by == SearchMethod::shifts);
    Images turned = images;
    std::reverse(turned.moving.begin(), turned.moving.end());
    for (const int candidates : {1, 5}) {
      RegistrationOptions more = options;
      more.candidates = candidates;
      const auto refused = registered(device, turned, more);
      CHECK_FALSE(refused.reliable);
      CHECK(refused.matrix.a == doctest::Approx(1));
      for (const auto& other : refused.runners_up) CHECK(other.matrix.a == doctest::Approx(1));
    }
  });
}

TEST_CASE(
    "pair search: runners-up are elsewhere, less significant, and at most as many as requested") {
  const Images images = cut(Similarity{25, 1.1, {6, 4}});
  test::on_every_device([&](const warpalign::Device& device) {
    RegistrationOptions options;
    options.min_angle = 0, options.max_angle = 60;
    options.min_scale = 0.8, options.max_scale = 1.3;
    options.candidates = 4;
    const auto found = registered(device, images, options);
    CHECK(found.reliable);
    CHECK(off(found, images.truth) <= refined_tolerance);
    REQUIRE_FALSE(found.runners_up.empty());
    CHECK(found.runners_up.size() <= 3);
    double last = found.significance;
    for (const auto& other : found.runners_up) {
      CHECK_FALSE(other.refined);
      CHECK(other.significance <= last);
      CHECK(off(other, images.truth) > 0.05 * 160);
      last = other.significance;
      const auto limits = detail::RotationScaleLimits::of(options, 1, 1.03);
      CHECK(limits.allows_angle(other.similarity.rotation_deg));
      CHECK(limits.allows_scale(other.similarity.scale));
    }
    options.candidates = 1;
    const auto alone = registered(device, images, options);
    CHECK(alone.runners_up.empty());
    CHECK(off(alone, found.homography) <= 0.01);
  });
}

TEST_CASE("pair search: a pose outside of the limits is not found, and no other is reliable") {
  const Images images = cut(Similarity{30, 1.3, {10, -8}});
  test::on_every_device([&](const warpalign::Device& device) {
    RegistrationOptions right;
    right.min_angle = 20, right.max_angle = 40;
    right.min_scale = 1.2, right.max_scale = 1.4;
    right.max_shift = 16;
    const auto found = registered(device, images, right);
    CHECK(found.reliable);
    CHECK(off(found, images.truth) <= refined_tolerance);
    // However near the limit the true pose lies, the search tries it among the first.
    for (const double beyond : {29.6, 30.4}) {
      RegistrationOptions edge = right;
      (beyond < 30 ? edge.min_angle : edge.max_angle) = beyond;
      const auto at_edge = registered(device, images, edge);
      CHECK(at_edge.reliable);
      CHECK(tried(at_edge) == std::vector{SearchMethod::log_polar});
    }
    RegistrationOptions scale = right, angle = right, opposite = right, shift = right;
    scale.min_scale = 0.9, scale.max_scale = 1.1;
    angle.min_angle = -20, angle.max_angle = 10;
    opposite.min_angle = 200, opposite.max_angle = 220;
    shift.max_shift = 8;
    for (const RegistrationOptions& options : {scale, angle, opposite, shift}) {
      const auto refused = registered(device, images, options);
      CHECK_FALSE(refused.reliable);
      CHECK(off(refused, images.truth) > 2);
      CHECK(refused.confidence <= 0.4);
    }
  });
}

TEST_CASE("pair search: with fewer parameters, a motion keeps its fixed ones") {
  const Images images = cut(Similarity{-5, 1, {7, 3}});
  test::on_every_device([&](const warpalign::Device& device) {
    for (const Motion motion : {Motion::rigid, Motion::similarity, Motion::affine,
                                Motion::homography, Motion::automatic}) {
      CAPTURE(static_cast<int>(motion));
      const auto found = registered(device, images, within_limits(motion));
      CHECK(found.reliable);
      CHECK(found.refined);
      CHECK(off(found, images.truth) <= 2 * refined_tolerance);
      CHECK(found.motion == (motion == Motion::automatic ? Motion::similarity : motion));
      if (motion == Motion::rigid) {
        CHECK(found.similarity.scale == doctest::Approx(1).epsilon(1e-12));
      }
      RegistrationOptions coarse = within_limits(motion);
      coarse.refine = false;
      const auto unrefined = registered(device, images, coarse);
      CHECK(unrefined.reliable);
      CHECK_FALSE(unrefined.refined);
      CHECK(off(unrefined, images.truth) <= 0.5);
    }
  });
}

TEST_CASE("pair search: easy pairs of different shapes are compared whole, without crops") {
  constexpr Shape wide{190, 130, 1};
  constexpr Shape tall{140, 180, 1};
  const auto pair = test::cut(bridge(), {wide, tall, {15, 1.05, {4, 6}}, 1.5});
  const std::vector<float> reference = pixels_of(pair.reference);
  const std::vector<float> moving = pixels_of(pair.moving);
  test::on_every_device([&](const warpalign::Device& device) {
    RegistrationOptions options;
    options.collect_timings = true;
    const auto found = warpalign::register_images(
        device, {reference.data(), PixelType::f32, wide.width, wide.height, 0},
        {moving.data(), PixelType::f32, tall.width, tall.height, 0}, options);
    CHECK(found.reliable);
    CHECK(test::max_corner_distance(found.matrix, pair.truth, wide) <= 2 * refined_tolerance);
    const auto ran = [&](const std::string& stage) {
      return std::any_of(found.timings.begin(), found.timings.end(),
                         [&](const auto& timing) { return timing.stage == stage; });
    };
    CHECK(ran("window"));
    CHECK_FALSE(ran("crop"));
    CHECK_FALSE(ran("chance_test"));  // it is conclusive
  });
}

TEST_CASE("pair search: spectra find scales of one half and two, without the grid") {
  test::on_every_device([&](const warpalign::Device& device) {
    for (const double scale : {0.5, 2.1}) {
      CAPTURE(scale);
      const Images images = cut(Similarity{20, scale, {3, -2}});
      const auto found = registered(device, images, {});
      CHECK(found.reliable);
      // In moving pixels; the overlap is half as wide as one of the images.
      CHECK(off(found, images.truth) <= 4 * refined_tolerance);
      CHECK(tried(found) == std::vector{SearchMethod::log_polar});
      CHECK(found.proposed_by == SearchMethod::log_polar);
    }
  });
}

TEST_CASE("pair search: the null test of a higher-DOF model counts all its settings") {
  const Images images = cut(test::moving_corners(shape, {{{4, -3}, {-3, 4}, {5, 5}, {-4, -2}}}));
  test::on_every_device([&](const warpalign::Device& device) {
    for (const Motion motion : {Motion::affine, Motion::homography}) {
      CAPTURE(static_cast<int>(motion));
      const RegistrationOptions options = within_limits(motion);
      const auto found = registered(device, images, options);
      REQUIRE(found.motion == motion);
      REQUIRE(found.null_test.has_value());
      const double settings = motion == Motion::affine ? 1e2 : 1e4;
      CHECK(found.null_test->max_null_z ==
            doctest::Approx(detail::max_null_z_score(found.num_trials * settings)));
      CHECK(found.null_test->z_score > 2 * found.null_test->max_null_z);
    }
  });
}

namespace {

/// A noisy pair with a small shear and a shift.
Images noisy(double sheared, double shift, float deviation, std::uint32_t seed) {
  const warpalign::Point c = warpalign::centre_of(shape);
  Images images = cut(Homography(Affine::translation(c.x + 3 + shift, c.y - 2 + shift) *
                                 Affine{1 + sheared, sheared, 0, sheared, 1 - sheared, 0} *
                                 Affine::translation(-c.x, -c.y)));
  std::mt19937 random(seed);
  std::normal_distribution<float> noise(0, deviation);
  for (std::vector<float>* pixels : {&images.reference, &images.moving}) {
    for (float& value : *pixels) value += noise(random);
  }
  return images;
}

}  // namespace

TEST_CASE("pair search: under noise auto takes the scene's model, at whole-pixel shifts too") {
  // Noise is weaker between pixels than at them, so a model that maps pixels between pixels leaves
  // a smaller residual. If the truth is a whole-pixel shift, this must not count. One in a million
  // noisy pairs may get a model with too many parameters.
  test::on_every_device([&](const warpalign::Device& device) {
    for (const double sheared : {0.0, 0.004}) {
      for (const double shift : {0.0, 0.5}) {
        for (const std::uint32_t seed : {1, 5}) {
          CAPTURE(sheared);
          CAPTURE(shift);
          CAPTURE(seed);
          const auto found =
              registered(device, noisy(sheared, shift, 16, seed), within_limits(Motion::automatic));
          CHECK(found.reliable);
          CHECK(found.motion == (sheared > 0 ? Motion::affine : Motion::similarity));
        }
      }
    }
  });
}

TEST_CASE("pair search: auto takes an affine transform once it stands out from the noise") {
  test::on_every_device([&](const warpalign::Device& device) {
    const auto taken = [&](double sheared) {
      int affine = 0;
      for (std::uint32_t seed = 1; seed <= 6; ++seed) {
        const auto found =
            registered(device, noisy(sheared, 0.5, 24, seed), within_limits(Motion::automatic));
        affine += found.motion == Motion::affine ? 1 : 0;
      }
      return affine;
    };
    // Corners are off by a fifth of a pixel. With two more parameters the likelihood ratio must be
    // 28. It is about 40, so most models are accepted. If it had to be 50, as for ten more
    // parameters, none would be.
    CHECK(taken(0.002) >= 2);
    CHECK(taken(0.0005) == 0);
  });
}

TEST_CASE("pair search: an image that fits twice has no reliable pose") {
  const Images images = cut(Similarity{});
  // The right half of the reference repeats the left half, and the moving image shows it once.
  Images twice = images;
  for (std::size_t i = 0; i < twice.reference.size(); ++i) {
    if (i % 160 >= 80) twice.reference[i] = images.reference[i - 80];
  }
  constexpr Shape half{80, 150, 1};
  std::vector<float> once;
  for (std::size_t i = 0; i < twice.reference.size(); ++i) {
    if (i % 160 < 80) once.push_back(images.reference[i]);
  }
  test::on_every_device([&](const warpalign::Device& device) {
    RegistrationOptions options = within_limits(Motion::similarity);
    options.candidates = 3;
    const auto found = warpalign::register_images(
        device, view(twice.reference), {once.data(), PixelType::f32, half.width, half.height, 0},
        options);
    REQUIRE_FALSE(found.runners_up.empty());
    const double apart =
        std::abs(found.similarity.translation.x - found.runners_up[0].similarity.translation.x);
    CHECK(apart == doctest::Approx(80).epsilon(0.02));
    if (found.null_test) {
      CHECK(found.null_test->second_best_ratio > 0.8);
      CHECK_FALSE(found.reliable);
    }
  });
}

TEST_CASE("pair search: images of different contrast, with every motion and both modalities") {
  test::on_every_device([&](const warpalign::Device& device) {
    Images shifted = cut(Similarity{0, 1, {9, -6}});
    for (float& value : shifted.moving) value = 255 - value;
    Images tilted = cut(Homography(Similarity{4, 1.05, {6, -3}}.matrix(shape, shape)) *
                        test::moving_corners(shape, {{{3, -2}, {-3, 2}, {2, 3}, {-2, -3}}}));
    for (float& value : tilted.moving) value = 255 - value;
    struct Case {
      Motion motion;
      Modality modality;
    };
    for (const auto& [motion, modality] :
         {Case{Motion::translation, Modality::other}, Case{Motion::rigid, Modality::automatic},
          Case{Motion::similarity, Modality::other}, Case{Motion::affine, Modality::other},
          Case{Motion::automatic, Modality::automatic}}) {
      CAPTURE(static_cast<int>(motion));
      RegistrationOptions options = within_limits(motion);
      options.modality = modality;
      const auto found = registered(device, shifted, options);
      CHECK(found.reliable);
      CHECK(found.refined);
      CHECK(found.modality == Modality::other);
      CHECK(found.proposed_by == SearchMethod::gradient_orientation);
      CHECK(tried(found).back() == SearchMethod::gradient_orientation);
      CHECK((tried(found).size() == 1) == (modality == Modality::other));
      // If intensities find nothing, orientations do not wait for the rest of their search.
      CHECK_FALSE(found.tried.contains(SearchMethod::patches));
      // Edges of finite width leave an uncertainty of some tenths of a pixel.
      CHECK(off(found, shifted.truth) <= 0.4);
    }
    CHECK_FALSE(registered(device, shifted, within_limits(Motion::rigid)).reliable);
    RegistrationOptions options = within_limits(Motion::homography);
    options.modality = Modality::other;
    const auto found = registered(device, tilted, options);
    CHECK(found.reliable);
    CHECK(found.motion == Motion::homography);
    CHECK(off(found, tilted.truth) <= 0.6);
  });
}

TEST_CASE("pair search: the effort option decides how much is tried") {
  const Images images = cut(Similarity{5, 1.05, {6, -4}});
  Images unrelated = images;
  unrelated.moving =
      pixels_of(test::cut(test::photograph("bee.jpg"), {shape, shape, {}, 1.5}).moving);
  test::on_every_device([&](const warpalign::Device& device) {
    RegistrationOptions options = within_limits(Motion::similarity);
    const std::vector<SearchMethod> first{SearchMethod::log_polar};
    const std::vector<SearchMethod> both{SearchMethod::log_polar, SearchMethod::grid};
    for (const Effort effort : {Effort::fast, Effort::standard, Effort::thorough}) {
      CAPTURE(static_cast<int>(effort));
      options.search = effort;
      options.modality = Modality::same;
      const auto found = registered(device, images, options);
      CHECK(found.reliable);
      CHECK(off(found, images.truth) <= refined_tolerance);
      CHECK(tried(found) == (effort == Effort::thorough ? both : first));
      const auto refused = registered(device, unrelated, options);
      CHECK_FALSE(refused.reliable);
      CHECK(tried(refused) == (effort == Effort::fast ? first : both));
      const double num_trials = refused.num_trials;
      CHECK(num_trials == found.num_trials);
      if (refused.null_test) {
        CHECK(refused.null_test->max_null_z ==
              doctest::Approx(detail::max_null_z_score(num_trials)));
      }
      // After intensities, orientations are tried as well, at as many candidates, unless the
      // effort is fast.
      options.modality = Modality::automatic;
      const auto either = registered(device, unrelated, options);
      CHECK_FALSE(either.reliable);
      CHECK(either.tried.contains(SearchMethod::gradient_orientation) == (effort != Effort::fast));
      CHECK(either.num_trials == (effort == Effort::fast ? num_trials : 2 * num_trials));
    }
  });
}

TEST_CASE("pair search: gradient directions rotate with the image") {
  constexpr Shape larger{260, 240, 1};
  const Similarity truth{65, 1.1, {5, -4}};
  const auto pair = test::cut(bridge(), {larger, larger, truth, 1.5});
  const std::vector<float> upright = pixels_of(pair.reference);
  std::vector<float> turned = pixels_of(pair.moving);
  for (float& value : turned) value = 3 * (255 - value);
  const auto image = [&](const std::vector<float>& pixels) {
    return HostImage{pixels.data(), PixelType::f32, larger.width, larger.height, 0};
  };
  test::on_every_device([&](const warpalign::Device& device) {
    RegistrationOptions options;
    options.modality = Modality::other;
    options.min_angle = 58, options.max_angle = 70;
    options.min_scale = 1, options.max_scale = 1.2;
    const auto found = warpalign::register_images(device, image(upright), image(turned), options);
    CHECK(found.reliable);
    CHECK(test::max_corner_distance(found.matrix, pair.truth, larger) <= 0.4);
    options.min_angle = -70, options.max_angle = -58;
    options.min_scale = 1 / 1.2, options.max_scale = 1;
    const auto back = warpalign::register_images(device, image(turned), image(upright), options);
    CHECK(back.reliable);
    CHECK(test::max_corner_distance(back.matrix, pair.truth.inverse(), larger) <= 0.4);
  });
}

TEST_CASE("pair search: patches find strong perspective within limits") {
  // The right side appears half as large as the left one, and sheared.
  const Images images =
      cut(test::moving_corners(shape, {{{0, -5}, {-60, 30}, {-55, -45}, {5, 3}}}));
  test::on_every_device([&](const warpalign::Device& device) {
    struct Case {
      Motion motion;
      Modality modality;
    };
    for (const auto& [motion, modality] :
         {Case{Motion::homography, Modality::same}, Case{Motion::automatic, Modality::same},
          Case{Motion::automatic, Modality::automatic}}) {
      CAPTURE(static_cast<int>(motion));
      CAPTURE(static_cast<int>(modality));
      RegistrationOptions options;
      options.motion = motion;
      options.modality = modality;
      options.min_angle = -20, options.max_angle = 20;
      options.min_scale = 0.6, options.max_scale = 1.3;
      const auto found = registered(device, images, options);
      CHECK(found.reliable);
      CHECK(found.motion == Motion::homography);
      // Aliasing adds to the error where a pixel covers several of the reference's.
      CHECK(off(found, images.truth) <= 0.6);
      CHECK(found.tried.contains(SearchMethod::patches));
    }
  });
}
