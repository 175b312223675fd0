// Windowing and padding against the oracle, on every device.
#include "reference/filter/apodize.hpp"
#include "reference/filter/sobel.hpp"
#include "support/compare.hpp"
#include "support/devices.hpp"
#include "support/random_images.hpp"
#include "support/transfer.hpp"

#include <warpalign/backend/stages/filter/apodize.hpp>
#include <warpalign/backend/stages/filter/statistics.hpp>
#include <warpalign/error.hpp>

#include <cmath>
#include <limits>

namespace {

using warpalign::PixelType;
using warpalign::Signal;

constexpr double mean = 0.25;

// Compares the result with the oracle's window times the oracle's signal.
void compare(const warpalign::Device& device, const reference::Plane& image,
             warpalign::ApodizeSpec spec, double tolerance) {
  auto stream = device.make_stream();
  const auto input = test::to_device(device, stream, image, spec.type);
  spec.input = input.shape();
  const warpalign::StatisticsRecord record{static_cast<float>(mean), 0, 0, 0};
  auto statistics = device.make_buffer(sizeof record);
  stream.upload(&record, sizeof record, statistics);
  auto output = device.make_image(PixelType::f32, spec.padded);
  test::poison(stream, output);
  warpalign::ApodizePlan(device, spec).execute(stream, input, statistics, output);
  const auto found = test::from_device(stream, output);
  const auto signal = spec.signal == Signal::gradient ? reference::sobel(image) : image;
  const auto expected = reference::apodize(signal, mean, spec.padded.width, spec.padded.height,
                                           spec.window == warpalign::Window::hann);
  CHECK(test::max_difference(found, expected) <= tolerance);
}

// Two weights, each rounded, and two products of values up to 1.25: below 4e-7.
constexpr double tolerance_of_pixels = 4e-7;

}  // namespace

TEST_CASE("apodize: every size, unpadded and on larger frames with even and odd margins") {
  test::on_every_device([](const warpalign::Device& device) {
    for (const test::Size& size : test::sizes()) {
      CAPTURE(test::to_string(size));
      const auto [w, h] = size;
      const auto image = test::random_plane(w, h, -1, 1, 8);
      for (const auto window : {warpalign::Window::hann, warpalign::Window::none}) {
        compare(device, image, {{}, {w, h, 1}, window}, tolerance_of_pixels);
        compare(device, image, {{}, {w + 8, h + 3, 1}, window}, tolerance_of_pixels);
        compare(device, image, {{}, {w + 5, h, 1}, window}, tolerance_of_pixels);
      }
    }
  });
}

TEST_CASE("apodize: the gradient of 8-bit, 16-bit and float images, and their pixels") {
  test::on_every_device([](const warpalign::Device& device) {
    for (const test::Size& size : test::sizes()) {
      CAPTURE(test::to_string(size));
      const auto [w, h] = size;
      const auto eight = test::random_integers(w, h, 255, 1);
      const auto sixteen = test::random_integers(w, h, 65535, 2);
      const auto floats = test::random_plane(w, h, -1, 1, 3);
      for (const warpalign::Shape& padded : {warpalign::Shape{w, h, 1}, {w + 8, h + 5, 1}}) {
        const auto spec = [&](PixelType type, Signal signal) {
          return warpalign::ApodizeSpec{{}, padded, warpalign::Window::hann, type, signal};
        };
        // The gradient's own rounding (test_sobel.cpp), plus 3 ulp of the largest magnitude for
        // weights and products: the magnitude is 1443 for 8 bits, 257 times as much for 16, and
        // 11.4 for the floats.
        compare(device, eight, spec(PixelType::u8, Signal::gradient), 2.5e-4 + 2.6e-4);
        compare(device, sixteen, spec(PixelType::u16, Signal::gradient), 257 * (2.5e-4 + 2.6e-4));
        compare(device, floats, spec(PixelType::f32, Signal::gradient), 6e-6 + 2.1e-6);
        compare(device, eight, spec(PixelType::u8, Signal::pixels), 255 * tolerance_of_pixels);
        compare(device, sixteen, spec(PixelType::u16, Signal::pixels), 65535 * tolerance_of_pixels);
      }
    }
  });
}

TEST_CASE("apodize: pixels that are not finite count as the mean") {
  test::on_every_device([](const warpalign::Device& device) {
    auto image = test::random_plane(40, 30, -1, 1, 9);
    image.at(20, 15) = std::numeric_limits<double>::quiet_NaN();
    image.at(21, 15) = std::numeric_limits<double>::infinity();
    compare(device, image, {{}, {48, 32, 1}, warpalign::Window::hann}, tolerance_of_pixels);
  });
}

TEST_CASE("apodize: a padded frame smaller than the image, and complex pixels, are refused") {
  test::on_every_device([](const warpalign::Device& device) {
    CHECK_THROWS_AS(
        warpalign::ApodizePlan(device, {{10, 10, 1}, {9, 12, 1}, warpalign::Window::hann}),
        warpalign::Error);
    CHECK_THROWS_AS(
        warpalign::ApodizePlan(device,
                               {{10, 10, 1}, {10, 12, 1}, warpalign::Window::hann, PixelType::c32}),
        warpalign::Error);
  });
}
