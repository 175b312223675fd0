// The number of overlapping pixels at each shift, against the oracle's correlation of the weights,
// on every device.
#include "reference/spectrum/overlap_correlation.hpp"
#include "support/compare.hpp"
#include "support/devices.hpp"
#include "support/random_images.hpp"
#include "support/transfer.hpp"

#include <warpalign/backend/stages/spectrum/overlap_counts.hpp>
#include <warpalign/error.hpp>

#include <vector>

namespace {

using warpalign::Error;
using warpalign::OverlapCountsPlan;
using warpalign::PixelType;
using warpalign::Shape;

struct Case {
  test::Size image, rectangle;
};

reference::Plane rectangle_of(const Case& sizes) {
  reference::Plane plane(sizes.image.width, sizes.image.height);
  for (std::int64_t y = 0; y < sizes.rectangle.height; ++y) {
    for (std::int64_t x = 0; x < sizes.rectangle.width; ++x) plane.at(x, y) = 1;
  }
  return plane;
}

void compare(const warpalign::Device& device, const Case& sizes, bool rectangle_is_first) {
  CAPTURE(test::to_string(sizes.image));
  CAPTURE(test::to_string(sizes.rectangle));
  CAPTURE(rectangle_is_first);
  const auto weights = test::random_plane(sizes.image.width, sizes.image.height, 0, 1, 50);
  auto stream = device.make_stream();
  const auto input = test::to_device(device, stream, weights);
  auto output = device.make_image(PixelType::f32, {sizes.image.width, sizes.image.height, 2});
  test::poison(stream, output);
  OverlapCountsPlan(device, {{sizes.image.width, sizes.image.height, 1}, 1, rectangle_is_first})
      .execute(stream, input, {sizes.rectangle.width, sizes.rectangle.height, 1}, output);
  const auto rectangle = rectangle_of(sizes);
  const auto pixels = static_cast<double>(sizes.image.width * sizes.image.height);
  for (const bool mirrored : {false, true}) {
    CAPTURE(mirrored);
    auto expected = rectangle_is_first ? reference::correlation(rectangle, weights, mirrored)
                                       : reference::correlation(weights, rectangle, mirrored);
    for (double& value : expected.values) value *= pixels;
    // Every weight is rounded by at most half of 2^-12, and sums are rounded to floats.
    const auto counted = static_cast<double>(sizes.rectangle.width * sizes.rectangle.height);
    CHECK(test::max_difference(test::from_device(stream, output, mirrored ? 1 : 0), expected) <=
          (0x1p-13 + 1.2e-7) * counted * pixels);
  }
}

}  // namespace

TEST_CASE("overlap_counts: rectangles of every size, in either image") {
  test::on_every_device([](const warpalign::Device& device) {
    for (const bool rectangle_is_first : {true, false}) {
      compare(device, {{1, 1}, {1, 1}}, rectangle_is_first);
      compare(device, {{7, 9}, {1, 9}}, rectangle_is_first);
      compare(device, {{16, 16}, {5, 16}}, rectangle_is_first);
      compare(device, {{31, 17}, {31, 2}}, rectangle_is_first);
      compare(device, {{33, 40}, {13, 1}}, rectangle_is_first);
      compare(device, {{70, 35}, {70, 35}}, rectangle_is_first);
    }
  });
}

TEST_CASE("overlap_counts: sums of whole pixels are exact, in the largest image and in batches") {
  test::on_every_device([](const warpalign::Device& device) {
    constexpr std::int64_t side = 512;
    constexpr std::int64_t batch = 2;
    auto stream = device.make_stream();
    auto weights = device.make_image(PixelType::f32, {side, side, batch});
    auto output = device.make_image(PixelType::f32, {side, side, 2 * batch});
    test::poison(stream, output);
    // The first image counts everywhere, the second one in its right half.
    std::vector<float> values(static_cast<std::size_t>(side * side * batch), 1.0F);
    for (std::int64_t i = side * side; i < batch * side * side; ++i) {
      values[static_cast<std::size_t>(i)] = i % side < side / 2 ? 0.0F : 1.0F;
    }
    stream.upload(values.data(), values.size() * sizeof(float), weights.buffer());
    OverlapCountsPlan(device, {{side, side, 1}, batch})
        .execute(stream, weights, {side, side - 1, 1}, output);
    for (std::int64_t slice = 0; slice < 2 * batch; ++slice) {
      CAPTURE(slice);
      const double expected =
          static_cast<double>(side * (side - 1) * side * side) / (slice < 2 ? 1.0 : 2.0);
      const auto found = test::from_device(stream, output, slice);
      CHECK(found.values == std::vector<double>(found.values.size(), expected));
    }
  });
}

TEST_CASE("overlap_counts: wrong shapes and images are refused") {
  test::on_every_device([](const warpalign::Device& device) {
    CHECK_THROWS_AS(OverlapCountsPlan(device, {{0, 4, 1}}), Error);
    CHECK_THROWS_AS(OverlapCountsPlan(device, {{8, 4, 2}}), Error);
    CHECK_THROWS_AS(OverlapCountsPlan(device, {{513, 4, 1}}), Error);
    CHECK_THROWS_AS(OverlapCountsPlan(device, {{4, 513, 1}}), Error);
    CHECK_THROWS_AS(OverlapCountsPlan(device, {{8, 4, 1}, 0}), Error);
    CHECK_THROWS_AS(OverlapCountsPlan(device, {{8, 4, 1}, 100000}), Error);
    auto stream = device.make_stream();
    const auto weights = device.make_image(PixelType::f32, {8, 4, 1});
    auto overlaps = device.make_image(PixelType::f32, {8, 4, 2});
    auto one = device.make_image(PixelType::f32, {8, 4, 1});
    const OverlapCountsPlan plan(device, {{8, 4, 1}});
    CHECK_THROWS_AS(plan.execute(stream, weights, {9, 4, 1}, overlaps), Error);
    CHECK_THROWS_AS(plan.execute(stream, weights, {8, 5, 1}, overlaps), Error);
    CHECK_THROWS_AS(plan.execute(stream, weights, {0, 4, 1}, overlaps), Error);
    CHECK_THROWS_AS(plan.execute(stream, weights, {8, 4, 1}, one), Error);
    CHECK_THROWS_AS(plan.execute(stream, overlaps, {8, 4, 1}, overlaps), Error);
  });
}
