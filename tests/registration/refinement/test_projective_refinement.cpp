// Affine transforms and homographies between cuts of photographs, on every device.
#include "support/corners.hpp"
#include "support/devices.hpp"
#include "support/photographs.hpp"

#include <warpalign/error.hpp>
#include <warpalign/registrar.hpp>

namespace {

using warpalign::Affine;
using warpalign::Homography;
using warpalign::HostImage;
using warpalign::Motion;
using warpalign::PixelType;
using warpalign::Registrar;
using warpalign::RegistrationOptions;
using warpalign::RegistrationResult;
using warpalign::Shape;

constexpr Shape shape{320, 300, 1};

const reference::Plane& bridge() {
  static const reference::Plane plane = test::photograph("bridge.jpg");
  return plane;
}

Homography similarity() {
  return warpalign::Similarity{-14, 1.08, {7.3, -11.6}}.matrix(shape, shape);
}

Homography sheared() {
  const warpalign::Point c = warpalign::centre_of(shape);
  return similarity() * Affine::translation(c.x, c.y) * Affine{1.02, 0.03, 0, -0.01, 0.97, 0} *
         Affine::translation(-c.x, -c.y);
}

// Moves the corners by `pixels` in directions that no similarity can follow.
Homography perspective(double pixels) {
  return similarity() * test::moving_corners(shape, {{{pixels, -0.6 * pixels},
                                                      {-0.8 * pixels, 0.7 * pixels},
                                                      {0.9 * pixels, pixels},
                                                      {-0.7 * pixels, -0.5 * pixels}}});
}

RegistrationResult registered(const warpalign::Device& device, const test::Pair& pair,
                              const RegistrationOptions& options) {
  const auto r = test::rounded<std::uint8_t>(pair.reference);
  const auto m = test::rounded<std::uint8_t>(pair.moving);
  const HostImage reference{r.data(), PixelType::u8, shape.width, shape.height, 0};
  const HostImage moving{m.data(), PixelType::u8, shape.width, shape.height, 0};
  return warpalign::register_images(device, reference, moving, options);
}

RegistrationResult registered(const warpalign::Device& device, const Homography& truth,
                              Motion motion) {
  RegistrationOptions options;
  options.motion = motion;
  return registered(device, test::cut_by(bridge(), shape, truth), options);
}

// Rounding to integers costs a similarity about 0.003 px. With twice as many parameters, two of
// which grow with the squared distance from the centre, a corner is off by a few times as much.
constexpr double corner_tolerance = 0.03;

}  // namespace

TEST_CASE("higher-DOF models: affine transforms are found to hundredths of a pixel") {
  test::on_every_device([](const warpalign::Device& device) {
    const auto found = registered(device, sheared(), Motion::affine);
    CHECK(found.reliable);
    CHECK(found.refined);
    CHECK(found.motion == Motion::affine);
    CHECK(found.homography.is_affine());
    CHECK(test::max_corner_distance(found.homography, sheared(), shape) <= corner_tolerance);
    CHECK(test::max_corner_distance(found.matrix, found.homography, shape) <= 1e-9);
    // The similarity is close to the one that was sheared.
    CHECK(found.similarity.rotation_deg == doctest::Approx(-14).epsilon(0.15));
  });
}

TEST_CASE("higher-DOF models: homographies are found to hundredths of a pixel") {
  test::on_every_device([](const warpalign::Device& device) {
    for (const double pixels : {0.0, 5.0, 25.0}) {
      CAPTURE(pixels);
      const Homography truth = perspective(pixels);
      const auto found = registered(device, truth, Motion::homography);
      CHECK(found.reliable);
      CHECK(found.refined);
      CHECK(found.motion == Motion::homography);
      CHECK(test::max_corner_distance(found.homography, truth, shape) <= corner_tolerance);
      // The matrix is the first-order approximation of the homography at the centre.
      const warpalign::Point centre = warpalign::centre_of(shape);
      CHECK(found.matrix(centre).x == doctest::Approx(found.homography(centre).x));
      CHECK(found.matrix(centre).y == doctest::Approx(found.homography(centre).y));
    }
  });
}

TEST_CASE("higher-DOF models: the images may change places, and the moving one be finer") {
  test::on_every_device([](const warpalign::Device& device) {
    for (const double scale : {0.6, 1.7}) {
      CAPTURE(scale);
      const Homography truth =
          Homography(warpalign::Similarity{20, scale, {4.2, 3.1}}.matrix(shape, shape)) *
          test::moving_corners(shape, {{{6, -4}, {-5, 4}, {6, 7}, {-5, -3}}});
      RegistrationOptions options;
      options.motion = Motion::homography;
      const auto found =
          registered(device, test::cut_by(bridge(), shape, truth, scale > 1 ? 1.8 : 1), options);
      CHECK(found.reliable);
      // The error in pixels of the coarser image is as above; the corners lie up to 1.7 widths of
      // the overlap away from it.
      CHECK(test::max_corner_distance(found.homography, truth, shape) <= 4 * corner_tolerance);
    }
  });
}

TEST_CASE("higher-DOF models: auto selects the model that the pair needs") {
  test::on_every_device([](const warpalign::Device& device) {
    const auto check = [&](const Homography& truth, Motion expected, double tolerance) {
      const auto found = registered(device, truth, Motion::automatic);
      CHECK(found.reliable);
      CHECK(found.motion == expected);
      CHECK(test::max_corner_distance(found.homography, truth, shape) <= tolerance);
    };
    check(similarity(), Motion::similarity, 0.02);
    check(sheared(), Motion::affine, corner_tolerance);
    check(perspective(5), Motion::homography, corner_tolerance);
    check(perspective(25), Motion::homography, corner_tolerance);
  });
}

TEST_CASE("higher-DOF models: auto keeps a similarity under noise and uneven illumination") {
  test::on_every_device([](const warpalign::Device& device) {
    test::Pair pair = test::cut_by(bridge(), shape, similarity());
    std::uint32_t state = 7;
    for (std::size_t i = 0; i < pair.moving.values.size(); ++i) {
      state = state * 1664525U + 1013904223U;
      const double noise = static_cast<double>(state >> 8) / (1 << 24) - 0.5;
      const double across = static_cast<double>(i % 320) / 320;
      pair.moving.values[i] = (0.6 + 0.35 * across) * pair.moving.values[i] + 40 * noise + 20;
    }
    RegistrationOptions options;
    options.motion = Motion::automatic;
    const auto found = registered(device, pair, options);
    CHECK(found.reliable);
    CHECK(found.motion == Motion::similarity);
  });
}

TEST_CASE("higher-DOF models: unrelated images are refused") {
  test::on_every_device([](const warpalign::Device& device) {
    const auto retina = test::photograph("retina.jpg");
    test::Pair pair = test::cut_by(bridge(), shape, similarity());
    pair.moving = test::cut_by(retina, shape, similarity()).moving;
    for (const Motion motion : {Motion::affine, Motion::homography, Motion::automatic}) {
      RegistrationOptions options;
      options.motion = motion;
      CHECK_FALSE(registered(device, pair, options).reliable);
    }
  });
}

TEST_CASE(
    "higher-DOF models: masked pixels do not count, and results do not depend on earlier pairs") {
  test::on_every_device([](const warpalign::Device& device) {
    const Homography truth = perspective(5);
    const test::Pair pair = test::cut_by(bridge(), shape, truth);
    auto r = test::rounded<std::uint8_t>(pair.reference);
    const auto m = test::rounded<std::uint8_t>(pair.moving);
    std::vector<std::uint8_t> mask(r.size(), 1);
    for (std::size_t y = 100; y < 180; ++y) {
      for (std::size_t x = 40; x < 200; ++x) {
        r[y * 320 + x] = static_cast<std::uint8_t>((x * y) % 251);
        mask[y * 320 + x] = 0;
      }
    }
    const HostImage reference{r.data(), PixelType::u8, shape.width, shape.height, 0};
    const HostImage moving{m.data(), PixelType::u8, shape.width, shape.height, 0};
    const HostImage counts{mask.data(), PixelType::u8, shape.width, shape.height, 0};
    RegistrationOptions options;
    options.motion = Motion::automatic;
    Registrar registrar(device, options);
    registrar.set_reference(reference, counts);
    const auto first = registrar.align(moving);
    CHECK(first.motion == Motion::homography);
    CHECK(test::max_corner_distance(first.homography, truth, shape) <= 2 * corner_tolerance);
    const auto second = registrar.align(moving);
    CHECK(first.homography.h == second.homography.h);
  });
}

TEST_CASE("higher-DOF models: limits of the search hold for homographies, too") {
  test::on_every_device([](const warpalign::Device& device) {
    const test::Pair pair = test::cut_by(bridge(), shape, perspective(5));  // -14 degrees, 1.08
    for (const Motion motion : {Motion::homography, Motion::automatic}) {
      RegistrationOptions options;
      options.motion = motion;
      options.min_angle = -20;
      options.max_angle = -10;
      CHECK(registered(device, pair, options).reliable);
      options.min_angle = 0;
      options.max_angle = 90;
      CHECK_FALSE(registered(device, pair, options).reliable);
    }
  });
}

TEST_CASE("higher-DOF models: without refinement, and what the fast pipeline refuses") {
  test::on_every_device([](const warpalign::Device& device) {
    const Homography truth = perspective(5);
    const test::Pair pair = test::cut_by(bridge(), shape, truth);
    RegistrationOptions options;
    options.motion = Motion::homography;
    options.refine = false;
    const auto found = registered(device, pair, options);
    CHECK(found.reliable);
    CHECK_FALSE(found.refined);
    CHECK(found.motion == Motion::homography);
    // A pixel of the last coarse level covers 1.25 pixels of the image.
    CHECK(test::max_corner_distance(found.homography, truth, shape) <= 0.3);
    options.refine = true;
    options.fast = true;
    CHECK_THROWS_AS(Registrar(device, options), warpalign::Error);
  });
}

TEST_CASE("higher-DOF models: patches find a perspective that is far from any similarity") {
  test::on_every_device([](const warpalign::Device& device) {
    // The right side appears less than half as large as the left one, and sheared.
    const Homography truth =
        similarity() * test::moving_corners(shape, {{{0, -10}, {-130, 60}, {-120, -95}, {10, 5}}});
    for (const Motion motion : {Motion::homography, Motion::automatic}) {
      const auto found = registered(device, truth, motion);
      CHECK(found.reliable);
      CHECK(found.motion == Motion::homography);
      // On the right, a moving pixel covers several pixels of the reference, so that aliasing adds
      // to the error.
      CHECK(test::max_corner_distance(found.homography, truth, shape) <= 10 * corner_tolerance);
    }
    RegistrationOptions options;
    CHECK_FALSE(registered(device, test::cut_by(bridge(), shape, truth), options).significance >
                40);
  });
}

TEST_CASE("higher-DOF models: patches in tilted views find an oblique plane") {
  test::on_every_device([](const warpalign::Device& device) {
    // Viewed at about 65 degrees to the normal: compressed 2.5-fold, and half as high at the right
    // as at the left.
    const Homography truth =
        similarity() * test::moving_corners(shape, {{{0, -20}, {-190, 60}, {-190, -60}, {0, 20}}});
    const auto found = registered(device, truth, Motion::homography);
    CHECK(found.reliable);
    CHECK(found.motion == Motion::homography);
    CHECK(found.proposed_by == warpalign::SearchMethod::patches);
    // The same aliasing is stronger here.
    CHECK(test::max_corner_distance(found.homography, truth, shape) <= 20 * corner_tolerance);
  });
}

TEST_CASE("higher-DOF models: local features find a strongly oblique plane") {
  test::on_every_device([](const warpalign::Device& device) {
    // Compressed sevenfold, and slightly less high at the right than at the left.
    const Homography truth =
        test::moving_corners(shape, {{{130, 8}, {-144, 20}, {-144, -16}, {130, -5}}});
    const test::Pair pair = test::cut_by(bridge(), shape, truth);
    RegistrationOptions options;
    options.motion = Motion::automatic;
    // The earlier steps find nothing here, and would take most of the time: the limits shorten
    // them.
    options.min_angle = -8;
    options.max_angle = 8;
    options.min_scale = 0.3;
    options.max_scale = 0.4;
    options.search = warpalign::Effort::fast;  // fast does not use features
    CHECK_FALSE(registered(device, pair, options).reliable);
    options.search = warpalign::Effort::standard;
    const auto found = registered(device, pair, options);
    CHECK(found.reliable);
    CHECK(found.motion == Motion::homography);
    CHECK(found.proposed_by == warpalign::SearchMethod::features);
    CHECK(test::max_corner_distance(found.homography, truth, shape) <= 20 * corner_tolerance);
  });
}
