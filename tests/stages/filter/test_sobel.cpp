// Sobel gradient magnitude against the oracle, on every device.
#include "reference/filter/sobel.hpp"
#include "support/compare.hpp"
#include "support/devices.hpp"
#include "support/random_images.hpp"
#include "support/transfer.hpp"

#include <warpalign/error.hpp>
#include <warpalign/stages/sobel.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace {

using warpalign::PixelType;
using warpalign::SobelMethod;

void compare(const warpalign::Device& device, const reference::Plane& image, PixelType type,
             double tolerance) {
  auto stream = device.make_stream();
  const auto input = test::to_device(device, stream, image, type);
  auto output = device.make_image(PixelType::f32, input.shape());
  for (const auto method : {SobelMethod::packed, SobelMethod::plain}) {
    CAPTURE(method == SobelMethod::plain);
    test::poison(stream, output);
    const warpalign::SobelPlan plan(device, {type, input.shape(), method});
    plan.execute(stream, input, output);
    CHECK(test::max_difference(test::from_device(stream, output), reference::sobel(image)) <=
          tolerance);
  }
}

}  // namespace

TEST_CASE("sobel: 8-bit, 16-bit and float images agree with nine reads per pixel") {
  test::on_every_device([](const warpalign::Device& device) {
    for (const test::Size& size : test::sizes()) {
      CAPTURE(test::to_string(size));
      const auto [w, h] = size;
      // Integer gradients are exact in f32 (|gx| <= 4 * 65535 < 2^24); the squares, their sum and
      // the square root round: less than 2 ulp of the largest magnitude, 1443 = 255 * sqrt(32).
      compare(device, test::random_integers(w, h, 255, 1), PixelType::u8, 2.5e-4);
      compare(device, test::random_integers(w, h, 65535, 2), PixelType::u16, 2.5e-4 * 257);
      // Up to six additions of values up to 8 round first.
      compare(device, test::random_plane(w, h, -1, 1, 3), PixelType::f32, 6e-6);
    }
  });
}

TEST_CASE("sobel: one bright pixel gives the operator's taps") {
  test::on_every_device([](const warpalign::Device& device) {
    reference::Plane image(9, 7);
    image.at(4, 3) = 1;
    auto stream = device.make_stream();
    const auto input = test::to_device(device, stream, image, PixelType::u8);
    auto output = device.make_image(PixelType::f32, input.shape());
    warpalign::SobelPlan(device, {PixelType::u8, input.shape()}).execute(stream, input, output);
    const auto found = test::from_device(stream, output);
    CHECK(found.at(4, 3) == 0);
    CHECK(found.at(3, 3) == 2);
    CHECK(found.at(5, 3) == 2);
    CHECK(found.at(4, 2) == 2);
    CHECK(found.at(4, 4) == 2);
    CHECK(found.at(3, 2) == doctest::Approx(std::sqrt(2.0)));
    CHECK(found.at(6, 3) == 0);
  });
}

TEST_CASE("sobel: NaN affects its neighbours and no other pixels") {
  test::on_every_device([](const warpalign::Device& device) {
    reference::Plane image(16, 8);
    image.at(5, 4) = std::numeric_limits<double>::quiet_NaN();
    auto stream = device.make_stream();
    const auto input = test::to_device(device, stream, image);
    auto output = device.make_image(PixelType::f32, input.shape());
    warpalign::SobelPlan(device, {PixelType::f32, input.shape()}).execute(stream, input, output);
    const auto found = test::from_device(stream, output);
    const auto is_nan = [](double value) { return std::isnan(value); };
    CHECK(std::count_if(found.values.begin(), found.values.end(), is_nan) >= 8);
    CHECK(std::count_if(found.values.begin(), found.values.end(), is_nan) <= 9);
    CHECK(found.at(0, 0) == 0);
    CHECK(found.at(8, 4) == 0);
  });
}

TEST_CASE("sobel: wrong arguments are refused before anything runs") {
  test::on_every_device([](const warpalign::Device& device) {
    using warpalign::Error;
    for (const PixelType type : {PixelType::i8, PixelType::i16, PixelType::u32, PixelType::i32,
                                 PixelType::f16, PixelType::f64, PixelType::c32}) {
      CHECK_THROWS_AS(warpalign::SobelPlan(device, {type, {8, 8, 1}}), Error);
    }
    CHECK_THROWS_AS(warpalign::SobelPlan(device, {PixelType::u8, {0, 8, 1}}), Error);
    CHECK_THROWS_AS(warpalign::SobelPlan(device, {PixelType::u8, {16385, 8, 1}}), Error);
    CHECK_THROWS_AS(warpalign::SobelPlan(device, {PixelType::u8, {8, 8, 2}}), Error);
    auto stream = device.make_stream();
    const warpalign::SobelPlan plan(device, {PixelType::u8, {8, 8, 1}});
    const auto input = device.make_image(PixelType::u8, {8, 8, 1});
    auto output = device.make_image(PixelType::f32, {8, 8, 1});
    auto small = device.make_image(PixelType::f32, {8, 7, 1});
    const auto wrong_type = device.make_image(PixelType::u16, {8, 8, 1});
    CHECK_THROWS_AS(plan.execute(stream, wrong_type, output), Error);
    CHECK_THROWS_AS(plan.execute(stream, input, small), Error);
  });
}
