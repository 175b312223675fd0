// Mean, extremes and count of non-finite pixels against the oracle, on every device.
#include "reference/filter/sobel.hpp"
#include "reference/filter/statistics.hpp"
#include "support/devices.hpp"
#include "support/random_images.hpp"
#include "support/transfer.hpp"
#include "support/volumes.hpp"

#include <warpalign/error.hpp>
#include <warpalign/backend/stages/filter/statistics.hpp>

#include <cmath>
#include <limits>

namespace {

using warpalign::PixelType;
using warpalign::Signal;

warpalign::StatisticsRecord run(const warpalign::Device& device, const reference::Plane& image,
                                PixelType type = PixelType::f32, Signal signal = Signal::pixels) {
  auto stream = device.make_stream();
  const auto input = test::to_device(device, stream, image, type);
  auto record = device.make_buffer(sizeof(warpalign::StatisticsRecord));
  warpalign::StatisticsPlan(device, {input.shape(), type, signal}).execute(stream, input, record);
  warpalign::StatisticsRecord found;
  stream.download(record, &found, sizeof found);
  return found;
}

void compare(const warpalign::Device& device, const reference::Plane& image) {
  const auto found = run(device, image);
  const auto expected = reference::statistics(image);
  // The device sums at most a few thousand values at a time, then pairwise. 1e-5 of the largest
  // value is ten times the error of single precision.
  const double size = std::max(std::abs(expected.minimum), std::abs(expected.maximum));
  CHECK(std::abs(static_cast<double>(found.mean) - expected.mean) <= 1e-5 * size);
  CHECK(static_cast<double>(found.minimum) == expected.minimum);
  CHECK(static_cast<double>(found.maximum) == expected.maximum);
  CHECK(found.nonfinite == expected.nonfinite);
}

}  // namespace

TEST_CASE("statistics: random images of every size") {
  test::on_every_device([](const warpalign::Device& device) {
    for (const test::Size& size : test::sizes()) {
      CAPTURE(test::to_string(size));
      compare(device, test::random_plane(size.width, size.height, -3, 5, 4));
    }
    compare(device, test::random_plane(2048, 1500, 0, 1000, 5));
  });
}

TEST_CASE("statistics: the gradient of 8-bit, 16-bit and float images") {
  test::on_every_device([](const warpalign::Device& device) {
    const auto compare_gradient = [&](const reference::Plane& image, PixelType type) {
      const auto found = run(device, image, type, Signal::gradient);
      const auto expected = reference::statistics(reference::sobel(image));
      // Magnitudes may be off by 2 ulp, and the mean by the tolerance of compare().
      const double size = expected.maximum;
      CHECK(std::abs(static_cast<double>(found.mean) - expected.mean) <= 1e-5 * size);
      CHECK(std::abs(static_cast<double>(found.minimum) - expected.minimum) <= 5e-7 * size);
      CHECK(std::abs(static_cast<double>(found.maximum) - expected.maximum) <= 5e-7 * size);
      CHECK(found.nonfinite == 0);
    };
    for (const test::Size& size : test::sizes()) {
      CAPTURE(test::to_string(size));
      const auto [w, h] = size;
      compare_gradient(test::random_integers(w, h, 255, 1), PixelType::u8);
      compare_gradient(test::random_integers(w, h, 65535, 2), PixelType::u16);
      compare_gradient(test::random_plane(w, h, -1, 1, 3), PixelType::f32);
    }
    compare_gradient(test::random_integers(2048, 1501, 255, 4), PixelType::u8);
    auto broken = test::random_plane(50, 40, -1, 1, 5);
    broken.at(20, 20) = std::numeric_limits<double>::quiet_NaN();
    broken.at(0, 39) = std::numeric_limits<double>::infinity();
    // A NaN affects the eight neighbours in its 3 x 3 pixels but not itself, since gx and gy
    // ignore the centre. An infinity in a corner affects its 2 x 2 pixels, because the edge is
    // repeated.
    CHECK(run(device, broken, PixelType::f32, Signal::gradient).nonfinite == 8 + 4);
  });
}

TEST_CASE("statistics: NaN and infinities are counted and excluded") {
  test::on_every_device([](const warpalign::Device& device) {
    auto image = test::random_plane(333, 77, -1, 1, 6);
    image.values[0] = std::numeric_limits<double>::quiet_NaN();
    image.values[1000] = std::numeric_limits<double>::infinity();
    image.values.back() = -std::numeric_limits<double>::infinity();
    compare(device, image);
    const auto found = run(device, image);
    CHECK(found.nonfinite == 3);
  });
}

TEST_CASE("statistics: an image with no finite pixel") {
  test::on_every_device([](const warpalign::Device& device) {
    reference::Plane image(20, 3);
    for (double& value : image.values) value = std::numeric_limits<double>::quiet_NaN();
    const auto found = run(device, image);
    CHECK(found.nonfinite == 60);
    CHECK(found.mean == 0);
    CHECK(found.minimum == std::numeric_limits<float>::infinity());
    CHECK(found.maximum == -std::numeric_limits<float>::infinity());
  });
}

TEST_CASE("statistics: huge values do not overflow the mean") {
  test::on_every_device([](const warpalign::Device& device) {
    compare(device, test::random_plane(300, 200, 2.5e38, 3.3e38, 7));
  });
}

TEST_CASE("statistics: volumes of every type") {
  test::on_every_device([](const warpalign::Device& device) {
    const warpalign::Shape shape{37, 11, 9};
    for (const PixelType type : {PixelType::u8, PixelType::u16, PixelType::f32}) {
      CAPTURE(warpalign::name_of(type));
      auto stream = device.make_stream();
      const auto volume = test::random_samples(shape, type, 8);
      const auto input = test::to_device(device, stream, volume, type);
      auto record = device.make_buffer(sizeof(warpalign::StatisticsRecord));
      warpalign::StatisticsPlan(device, {shape, type}).execute(stream, input, record);
      warpalign::StatisticsRecord found;
      stream.download(record, &found, sizeof found);
      reference::Plane all(shape.pixels(), 1);
      all.values = volume.values;
      const auto expected = reference::statistics(all);
      CHECK(static_cast<double>(found.mean) == doctest::Approx(expected.mean).epsilon(1e-5));
      CHECK(static_cast<double>(found.minimum) == expected.minimum);
      CHECK(static_cast<double>(found.maximum) == expected.maximum);
      CHECK(found.nonfinite == 0);
    }
  });
}

TEST_CASE("statistics: pixels of another type, and volumes' gradients, are refused") {
  test::on_every_device([](const warpalign::Device& device) {
    CHECK_THROWS_AS(
        warpalign::StatisticsPlan(device, {{8, 8, 2}, PixelType::f32, Signal::gradient}),
        warpalign::Error);
    CHECK_THROWS_AS(warpalign::StatisticsPlan(device, {{8, 8, 1}, warpalign::PixelType::c32}),
                    warpalign::Error);
  });
}
