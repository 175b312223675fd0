// Bilinear warps against the oracle, on every device.
#include "reference/spline/warp.hpp"
#include "support/compare.hpp"
#include "support/devices.hpp"
#include "support/random_images.hpp"
#include "support/transfer.hpp"

#include <warpalign/backend/stages/spline/warp.hpp>
#include <warpalign/error.hpp>

#include <cmath>
#include <limits>
#include <numbers>

namespace {

using warpalign::Affine;

reference::Plane run(const warpalign::Device& device, const reference::Plane& image,
                     const Affine& m, std::int64_t width, std::int64_t height) {
  auto stream = device.make_stream();
  const auto input = test::to_device(device, stream, image);
  auto output = device.make_image(warpalign::PixelType::f32, {width, height, 1});
  test::poison(stream, output);
  warpalign::WarpPlan(device, {input.shape(), output.shape()}).execute(stream, input, m, output);
  return test::from_device(stream, output);
}

Affine rotation_about_centre(const test::Size& size, double degrees, double scale) {
  const warpalign::Shape shape{size.width, size.height, 1};
  return warpalign::Similarity{degrees, scale, {0.3, -0.7}}.matrix(shape, shape);
}

// Values are in [-1, 1], so neighbours differ by at most 2 along an axis. A texture unit rounds
// each fraction to 8 bits: up to 1/512 each, 4/256 altogether with the rounding of the value.
// Loads from memory (OpenCL) have only the error of single-precision coordinates.
double tolerance(const warpalign::Device& device, const test::Size& size) {
  const double coordinates = 4e-7 * static_cast<double>(size.width + size.height) + 1e-6;
  const bool by_texture =
      device.info().backend == "cuda" && device.info().sampling == warpalign::Sampling::texture;
  return by_texture ? coordinates * 4 + 4.0 / 256 : coordinates * 4;
}

void compare(const warpalign::Device& device, const test::Size& size, const Affine& m,
             std::int64_t width, std::int64_t height) {
  CAPTURE(test::to_string(size));
  const auto image = test::random_plane(size.width, size.height, -1, 1, 19);
  const auto found = run(device, image, m, width, height);
  const auto expected = reference::warp(image, {m.a, m.b, m.c, m.d, m.e, m.f}, width, height);
  CHECK(test::max_difference(found, expected) <= tolerance(device, size));
}

}  // namespace

TEST_CASE("warp: the identity returns the image") {
  test::on_every_device([](const warpalign::Device& device) {
    const auto image = test::random_plane(77, 50, -1, 1, 21);
    CHECK(run(device, image, {}, 77, 50).values == image.values);
  });
}

TEST_CASE("warp: whole-pixel shifts are exact, with zeros from outside") {
  test::on_every_device([](const warpalign::Device& device) {
    const auto image = test::random_plane(40, 30, 1, 2, 22);
    const auto found = run(device, image, Affine::translation(5, -3), 40, 30);
    for (std::int64_t y = 0; y < 30; ++y) {
      for (std::int64_t x = 0; x < 40; ++x) {
        const bool inside = x + 5 < 40 && y - 3 >= 0;
        CHECK(found.at(x, y) == (inside ? image.at(x + 5, y - 3) : 0.0));
      }
    }
  });
}

TEST_CASE("warp: one pixel moves counter-clockwise for a positive rotation") {
  test::on_every_device([](const warpalign::Device& device) {
    // `matrix` maps the reference to the moving image, which is rotated by +90 degrees,
    // counter-clockwise on screen: a point to the right of the centre in the reference is above it
    // in the moving image.
    const warpalign::Shape shape{9, 9, 1};
    const Affine to_moving = warpalign::Similarity{90, 1, {}}.matrix(shape, shape);
    const warpalign::Point mapped = to_moving({7, 4});
    CHECK(mapped.x == doctest::Approx(4));
    CHECK(mapped.y == doctest::Approx(1));
    // Resampling the moving image with `matrix` moves its pixel back to the reference's position.
    reference::Plane moving(9, 9);
    moving.at(4, 1) = 1;
    const auto aligned = run(device, moving, to_moving, 9, 9);
    CHECK(aligned.at(7, 4) == doctest::Approx(1).epsilon(0.01));
  });
}

TEST_CASE("warp: rotations, scalings and other sizes agree with the oracle") {
  test::on_every_device([](const warpalign::Device& device) {
    for (const test::Size& size : test::sizes()) {
      compare(device, size, rotation_about_centre(size, 17, 1.3), size.width, size.height);
    }
    compare(device, {64, 64}, rotation_about_centre({64, 64}, 135, 0.4), 90, 31);
    compare(device, {128, 96}, {0.5, 0.1, -20, -0.2, 2, 13.25}, 200, 150);
  });
}

TEST_CASE("warp: coordinates far outside give zero, and are never read") {
  test::on_every_device([](const warpalign::Device& device) {
    const auto image = test::random_plane(33, 20, 1, 2, 23);
    for (const Affine& m : {Affine::translation(1e30, 0), Affine::translation(-1e9, 1e9),
                            Affine{1e38, 1e38, 1e38, 1e38, 1e38, 1e38}}) {
      const auto found = run(device, image, m, 17, 9);
      for (const double value : found.values) CHECK(value == 0);
    }
    // A singular transform is allowed, because the stage never inverts it.
    const auto constant = run(device, image, {0, 0, 4, 0, 0, 6}, 5, 5);
    for (const double value : constant.values) CHECK(value == image.at(4, 6));
  });
}

// Rows along, across and oblique to the source's, with edges between pixels, beyond the output and
// far away.
TEST_CASE("warp: an image that is declared to be all ones gives the same result") {
  test::on_every_device([](const warpalign::Device& device) {
    constexpr test::Size size{40, 30};
    reference::Plane ones = test::random_plane(size.width, size.height, 1, 1, 27);
    auto stream = device.make_stream();
    const auto input = test::to_device(device, stream, ones);
    constexpr std::int64_t slices = 8;
    auto output = device.make_image(warpalign::PixelType::f32, {71, 53, slices});
    test::poison(stream, output);
    const warpalign::WarpPlan plan(device, {input.shape(), {71, 53, 1}, slices, true});
    const std::vector<Affine> transforms{Affine{},
                                         Affine::translation(-10.25, -7.5),
                                         Affine{0, 1, -9.75, -1, 0, 40.5},
                                         rotation_about_centre(size, 30, 0.7),
                                         rotation_about_centre(size, 200, 1.9),
                                         Affine::translation(1e30, 0),
                                         Affine{0, 0, 4, 0, 0, 6}};
    plan.execute(stream, input, transforms, output, 1);
    for (std::size_t i = 0; i < transforms.size(); ++i) {
      CAPTURE(i);
      const Affine& m = transforms[i];
      const auto expected = reference::warp(ones, {m.a, m.b, m.c, m.d, m.e, m.f}, 71, 53);
      const auto found = test::from_device(stream, output, static_cast<std::int64_t>(i) + 1);
      CHECK(test::max_difference(found, expected) <= tolerance(device, size));
    }
    CHECK(std::isnan(test::from_device(stream, output, 0).values.back()));
  });
}

TEST_CASE("warp: one slice of the output is written, and no other") {
  test::on_every_device([](const warpalign::Device& device) {
    const auto image = test::random_plane(40, 30, 1, 2, 25);
    auto stream = device.make_stream();
    const auto input = test::to_device(device, stream, image);
    auto output = device.make_image(warpalign::PixelType::f32, {37, 29, 3});
    test::poison(stream, output);
    const warpalign::WarpPlan plan(device, {input.shape(), {37, 29, 1}, 3});
    const Affine turned = rotation_about_centre({40, 30}, 30, 1);
    plan.execute(stream, input, turned, output, 1);
    CHECK(test::from_device(stream, output, 1).values == run(device, image, turned, 37, 29).values);
    for (const std::int64_t other : {0, 2}) {
      for (const double value : test::from_device(stream, output, other).values) {
        CHECK(std::isnan(value));
      }
    }
    CHECK_THROWS_AS(plan.execute(stream, input, turned, output, 3), warpalign::Error);
    CHECK_THROWS_AS(plan.execute(stream, input, turned, output, -1), warpalign::Error);
    CHECK_THROWS_AS(warpalign::WarpPlan(device, {input.shape(), {37, 29, 1}, 0}), warpalign::Error);
  });
}

// Images whose rows a texture unit can read in place, and others; more transforms than one launch
// of any backend takes.
TEST_CASE("warp: several transforms at once equal single ones") {
  test::on_every_device([](const warpalign::Device& device) {
    for (const std::int64_t width : {64, 37}) {
      const auto image = test::random_plane(width, 30, 1, 2, 25);
      auto stream = device.make_stream();
      const auto input = test::to_device(device, stream, image);
      constexpr std::int64_t slices = 72;
      auto output = device.make_image(warpalign::PixelType::f32, {21, 19, slices});
      test::poison(stream, output);
      const warpalign::WarpPlan plan(device, {input.shape(), {21, 19, 1}, slices});
      std::vector<Affine> transforms;
      for (int i = 0; i < slices - 2; ++i) {
        transforms.push_back(rotation_about_centre({width, 30}, 5.0 * i, 1 + 0.01 * i));
      }
      plan.execute(stream, input, transforms, output, 1);
      for (const std::size_t i : {0, 1, 63, 64, 69}) {
        CAPTURE(i);
        const auto slice = static_cast<std::int64_t>(i) + 1;
        CHECK(test::from_device(stream, output, slice).values ==
              run(device, image, transforms[i], 21, 19).values);
      }
      for (const std::int64_t other : {std::int64_t{0}, slices - 1}) {
        CHECK(std::isnan(test::from_device(stream, output, other).values.front()));
        CHECK(std::isnan(test::from_device(stream, output, other).values.back()));
      }
      CHECK_THROWS_AS(plan.execute(stream, input, transforms, output, 3), warpalign::Error);
    }
  });
}

TEST_CASE("warp: transforms that are not finite are refused") {
  test::on_every_device([](const warpalign::Device& device) {
    const auto image = test::random_plane(8, 8, 1, 2, 24);
    CHECK_THROWS_AS(run(device, image, Affine::translation(std::nan(""), 0), 8, 8),
                    warpalign::Error);
  });
}
