// The impulse noise filter against the oracle, on every device.
#include "reference/filter/impulse_filter.hpp"
#include "support/compare.hpp"
#include "support/devices.hpp"
#include "support/random_images.hpp"
#include "support/transfer.hpp"

#include <warpalign/backend/stages/filter/impulse_filter.hpp>
#include <warpalign/error.hpp>

#include <cmath>
#include <random>
#include <vector>

namespace {

using warpalign::ImpulseFilterPlan;
using warpalign::PixelType;

constexpr double lowest = 3;
constexpr double highest = 250;

// Integers from 20 to 220, a fraction `part` of which is replaced by either end of the range, and
// a flat area at the upper end.
reference::Plane speckled(const test::Size& size, double part) {
  auto image = test::random_integers(size.width, size.height, 200, 77);
  for (double& value : image.values) value += 20;
  std::mt19937 random(5);
  const auto chance = [&] { return static_cast<double>(random()) / 4294967296.0; };
  for (double& value : image.values) {
    const double dice = chance();
    if (dice < part) value = dice < part / 2 ? lowest : highest;
  }
  for (std::int64_t y = 0; y < size.height / 3; ++y) {
    for (std::int64_t x = 0; x < size.width / 3; ++x) image.at(x, y) = highest;
  }
  return image;
}

// A mean of at most 24 integers below 256 with float weights: about 24 roundings, each of 2^-24 of
// 250.
constexpr double tolerance = 250 * 24 * 6e-8;

void compare(const warpalign::Device& device, const test::Size& size, PixelType type) {
  CAPTURE(test::to_string(size));
  const auto image = speckled(size, 0.3);
  auto stream = device.make_stream();
  const auto input = test::to_device(device, stream, image, type);
  auto output = device.make_image(PixelType::f32, input.shape());
  test::poison(stream, output);
  const ImpulseFilterPlan plan(device, {type, input.shape()});
  plan.execute(stream, input, {static_cast<float>(lowest), static_cast<float>(highest), 0}, output);
  const auto found = test::from_device(stream, output);
  const auto expected = reference::despeckled(image, lowest, highest);
  CHECK(test::max_difference(found, expected) <= tolerance);
}

}  // namespace

TEST_CASE("impulse_filter: impulses are filled in as the oracle does") {
  test::on_every_device([](const warpalign::Device& device) {
    for (const test::Size& size : test::sizes()) compare(device, size, PixelType::u8);
    compare(device, {61, 47}, PixelType::u16);
    compare(device, {61, 47}, PixelType::f32);
  });
}

TEST_CASE("impulse_filter: statistics of a host image equal those on the device") {
  test::on_every_device([](const warpalign::Device& device) {
    // The last size has more rows than the statistics sample.
    for (const test::Size& size : {test::Size{1, 1}, test::Size{33, 17}, test::Size{61, 147}}) {
      for (const PixelType type : {PixelType::u8, PixelType::u16, PixelType::f32}) {
        const auto image = speckled(size, 0.1);
        auto stream = device.make_stream();
        const auto input = test::to_device(device, stream, image, type);
        std::vector<char> pixels(input.size_bytes());
        stream.download(input.buffer(), pixels.data(), pixels.size());
        const auto expected =
            ImpulseFilterPlan(device, {type, input.shape()}).impulse_statistics(stream, input);
        const auto found =
            warpalign::impulse_statistics({pixels.data(), type, size.width, size.height, 0});
        CHECK(found.lowest == expected.lowest);
        CHECK(found.highest == expected.highest);
        CHECK(found.isolated == expected.isolated);
      }
    }
  });
}

TEST_CASE("impulse_filter: areas at an end of the range are kept") {
  test::on_every_device([](const warpalign::Device& device) {
    reference::Plane image(30, 20);
    for (std::int64_t y = 0; y < 20; ++y) {
      for (std::int64_t x = 0; x < 30; ++x) image.at(x, y) = x < 15 ? 255 : (x == 20 ? 0 : 99);
    }
    auto stream = device.make_stream();
    const auto input = test::to_device(device, stream, image, PixelType::u8);
    auto output = device.make_image(PixelType::f32, input.shape());
    const ImpulseFilterPlan plan(device, {PixelType::u8, input.shape()});
    const auto impulses = plan.impulse_statistics(stream, input);
    CHECK(impulses.lowest == 0);
    CHECK(impulses.highest == 255);
    CHECK(impulses.isolated == 0);
    plan.execute(stream, input, impulses, output);
    // The end pixels of the line have one neighbour only, so they are impulses by definition. All
    // other pixels are kept.
    const auto found = test::from_device(stream, output);
    for (std::int64_t y = 1; y < 19; ++y) {
      for (std::int64_t x = 0; x < 15; ++x) REQUIRE(found.at(x, y) == 255);
    }
  });
}

TEST_CASE("impulse_filter: the statistics count isolated pixels at the ends of the range") {
  test::on_every_device([](const warpalign::Device& device) {
    const test::Size size{400, 64};  // every row is processed
    reference::Plane image(size.width, size.height);
    for (double& value : image.values) value = 100;
    for (std::int64_t y = 2; y < 60; y += 4) image.at(7 * y % 390 + 2, y) = y % 8 == 2 ? 0 : 200;
    auto stream = device.make_stream();
    const auto input = test::to_device(device, stream, image, PixelType::u8);
    const auto impulses =
        ImpulseFilterPlan(device, {PixelType::u8, input.shape()}).impulse_statistics(stream, input);
    CHECK(impulses.isolated == doctest::Approx(15.0 / (400 * 64)));
  });
}

TEST_CASE("impulse_filter: invalid input is refused") {
  test::on_every_device([](const warpalign::Device& device) {
    CHECK_THROWS_AS(ImpulseFilterPlan(device, {PixelType::c32, {8, 8, 1}}), warpalign::Error);
    CHECK_THROWS_AS(ImpulseFilterPlan(device, {PixelType::u8, {0, 8, 1}}), warpalign::Error);
  });
}
