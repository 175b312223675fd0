// Gaussian smoothing against the oracle, on every device.
#include "reference/filter/smooth.hpp"
#include "support/compare.hpp"
#include "support/devices.hpp"
#include "support/random_images.hpp"
#include "support/transfer.hpp"

#include <warpalign/backend/stages/filter/smooth.hpp>
#include <warpalign/error.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace {

using warpalign::Error;
using warpalign::PixelType;
using warpalign::Shape;
using warpalign::SmoothPlan;
using warpalign::SmoothSpec;

warpalign::SmoothSpec spec_of(const reference::Plane& image, PixelType type,
                              const reference::SampleGrid& grid, double sigma) {
  return {type,
          {image.width, image.height, 1},
          {grid.width, grid.height, 1},
          {grid.origin_x, grid.origin_y},
          grid.spacing,
          sigma,
          false};
}

// The float weights sum to 1 within 1e-7. Sums of 20 by 20 products of values up to `largest` lose
// a few more units of 6e-8.
constexpr double tolerance = 1e-6;

void compare(const warpalign::Device& device, const reference::Plane& image, PixelType type,
             const reference::SampleGrid& grid, double sigma, double largest) {
  CAPTURE(sigma);
  CAPTURE(grid.spacing);
  auto stream = device.make_stream();
  const auto input = test::to_device(device, stream, image, type);
  auto output = device.make_image(PixelType::f32, {grid.width, grid.height, 1});
  test::poison(stream, output);
  SmoothPlan(device, spec_of(image, type, grid, sigma)).execute(stream, input, output);
  CHECK(test::max_difference(test::from_device(stream, output),
                             reference::smooth(image, nullptr, grid, sigma).value) <=
        tolerance * largest);
}

void compare_masked(const warpalign::Device& device, const reference::Plane& image, PixelType type,
                    const reference::Plane& mask, const reference::SampleGrid& grid, double sigma,
                    double largest) {
  CAPTURE(sigma);
  auto stream = device.make_stream();
  reference::Plane uploaded = image;
  for (std::size_t i = 0; i < mask.values.size(); ++i) {
    if (type == PixelType::f32 && mask.values[i] == 0) uploaded.values[i] = std::nan("");
  }
  const auto input = test::to_device(device, stream, uploaded, type);
  const auto device_mask = test::to_device(device, stream, mask, PixelType::u8);
  auto output = device.make_image(PixelType::f32, {grid.width, grid.height, 1});
  auto weight = device.make_image(PixelType::f32, {grid.width, grid.height, 1});
  test::poison(stream, output);
  test::poison(stream, weight);
  SmoothSpec spec = spec_of(image, type, grid, sigma);
  spec.masked = true;
  SmoothPlan(device, spec).execute(stream, input, device_mask, output, weight);
  const auto expected = reference::smooth(image, &mask, grid, sigma);
  const auto found = test::from_device(stream, output);
  CHECK(test::max_difference(test::from_device(stream, weight), expected.weight) <= tolerance);
  // A ratio of two sums that are accurate to 1e-7, even for small weights.
  CHECK(test::max_difference(found, expected.value) <= 2 * tolerance * largest);
  for (std::size_t i = 0; i < found.values.size(); ++i) {
    if (expected.weight.values[i] == 0) REQUIRE(found.values[i] == 0);
  }
}

// A mask of integers with non-zero blobs, separated by gaps that are wider than the smoothing.
reference::Plane blobs(std::int64_t width, std::int64_t height) {
  reference::Plane mask(width, height);
  for (std::int64_t y = 0; y < height; ++y) {
    for (std::int64_t x = 0; x < width; ++x) {
      const bool counts =
          std::sin(0.21 * static_cast<double>(x)) + std::cos(0.17 * static_cast<double>(y)) > -0.3;
      mask.at(x, y) = counts ? static_cast<double>(1 + (x + y) % 255) : 0;
    }
  }
  return mask;
}

reference::SampleGrid same(const test::Size& size) { return {size.width, size.height, 0, 0, 1}; }

}  // namespace

TEST_CASE("smooth: every size and type, from no smoothing to several pixels") {
  test::on_every_device([](const warpalign::Device& device) {
    for (const test::Size& size : {test::Size{1, 1}, test::Size{1, 9}, test::Size{5, 3},
                                   test::Size{33, 17}, test::Size{130, 65}, test::Size{3, 140}}) {
      CAPTURE(test::to_string(size));
      const auto floats = test::random_plane(size.width, size.height, -1, 1, 40);
      const auto bytes = test::random_integers(size.width, size.height, 255, 41);
      const auto words = test::random_integers(size.width, size.height, 65535, 42);
      for (const double sigma : {0.0, 0.7, 2.3}) {
        compare(device, floats, PixelType::f32, same(size), sigma, 1);
        compare(device, bytes, PixelType::u8, same(size), sigma, 255);
        compare(device, words, PixelType::u16, same(size), sigma, 65535);
      }
    }
  });
}

TEST_CASE("smooth: onto coarser and finer grids with any origin") {
  test::on_every_device([](const warpalign::Device& device) {
    const auto image = test::random_plane(101, 67, -1, 1, 43);
    compare(device, image, PixelType::f32, {33, 22, 0.31, 0.87, 3}, 1.3, 1);
    compare(device, image, PixelType::f32, {40, 26, 0.75, 0.75, 2.5}, 1.1, 1);
    compare(device, image, PixelType::f32, {150, 90, 11.1, 13.7, 0.35}, 0.83, 1);
    compare(device, image, PixelType::f32, {1, 1, 50.2, 33.3, 8}, 6.7, 1);
    compare(device, image, PixelType::f32, {51, 34, 0, 0, 2}, 0, 1);
    compare(device, test::random_integers(101, 67, 255, 44), PixelType::u8, {25, 16, 1.5, 1.5, 4},
            1.7, 255);
  });
}

TEST_CASE("smooth: grids that reach half a pixel beyond the image's corners") {
  test::on_every_device([](const warpalign::Device& device) {
    const auto image = test::random_plane(21, 14, -1, 1, 45);
    compare(device, image, PixelType::f32, {22, 15, -0.5, -0.5, 1}, 1.3, 1);
    compare(device, image, PixelType::f32, {2, 2, -0.4, -0.4, 13.8}, 0.9, 1);
    CHECK_THROWS_AS(SmoothPlan(device, spec_of(image, PixelType::f32, {22, 15, -0.6, 0, 1}, 1)),
                    Error);
    CHECK_THROWS_AS(SmoothPlan(device, spec_of(image, PixelType::f32, {22, 14, 0, 0, 1}, 1)),
                    Error);
    CHECK_THROWS_AS(SmoothPlan(device, spec_of(image, PixelType::f32, {21, 15, 0, -0.4, 1}, 1)),
                    Error);
  });
}

TEST_CASE("smooth: a wide Gaussian covers the whole image") {
  test::on_every_device([](const warpalign::Device& device) {
    const auto image = test::random_plane(64, 50, -1, 1, 46);
    compare(device, image, PixelType::f32, same({64, 50}), 30, 1);
    compare(device, image, PixelType::f32, same({64, 50}), 1000, 1);
  });
}

TEST_CASE("smooth: masked pixels have no effect, even if they are NaN") {
  test::on_every_device([](const warpalign::Device& device) {
    for (const test::Size& size : {test::Size{1, 1}, test::Size{33, 17}, test::Size{130, 65}}) {
      CAPTURE(test::to_string(size));
      const auto mask = blobs(size.width, size.height);
      const auto floats = test::random_plane(size.width, size.height, -1, 1, 47);
      const auto bytes = test::random_integers(size.width, size.height, 255, 48);
      const auto words = test::random_integers(size.width, size.height, 65535, 49);
      for (const double sigma : {0.0, 0.7, 2.3}) {
        compare_masked(device, floats, PixelType::f32, mask, same(size), sigma, 1);
        compare_masked(device, bytes, PixelType::u8, mask, same(size), sigma, 255);
        compare_masked(device, words, PixelType::u16, mask, same(size), sigma, 65535);
      }
    }
    const auto image = test::random_plane(101, 67, -1, 1, 50);
    compare_masked(device, image, PixelType::f32, blobs(101, 67), {33, 22, 0.31, 0.87, 3}, 1.3, 1);
    compare_masked(device, image, PixelType::f32, reference::Plane(101, 67), same({101, 67}), 1.3,
                   1);
  });
}

TEST_CASE("smooth: images of many work groups") {
  test::on_every_device([](const warpalign::Device& device) {
    compare(device, test::random_plane(1025, 1100, -1, 1, 53), PixelType::f32, same({1025, 1100}),
            0.7, 1);
    compare_masked(device, test::random_integers(1025, 600, 255, 54), PixelType::u8,
                   blobs(1025, 600), same({1025, 600}), 0.7, 255);
  });
}

TEST_CASE("smooth: one plan on two streams, one after the other") {
  test::on_every_device([](const warpalign::Device& device) {
    const auto a = test::random_plane(130, 65, -1, 1, 51);
    const auto b = test::random_plane(130, 65, -1, 1, 52);
    const SmoothPlan plan(device, spec_of(a, PixelType::f32, same({130, 65}), 2.3));
    auto first = device.make_stream();
    auto second = device.make_stream();
    const auto input_a = test::to_device(device, first, a);
    const auto input_b = test::to_device(device, second, b);
    auto output_a = device.make_image(PixelType::f32, {130, 65, 1});
    auto output_b = device.make_image(PixelType::f32, {130, 65, 1});
    plan.execute(first, input_a, output_a);
    plan.execute(second, input_b, output_b);
    const auto expected_b = reference::smooth(b, nullptr, same({130, 65}), 2.3);
    CHECK(test::max_difference(test::from_device(second, output_b), expected_b.value) <= tolerance);
    const auto expected_a = reference::smooth(a, nullptr, same({130, 65}), 2.3);
    CHECK(test::max_difference(test::from_device(first, output_a), expected_a.value) <= tolerance);
  });
}

TEST_CASE("smooth: wrong specifications and images are refused") {
  test::on_every_device([](const warpalign::Device& device) {
    const Shape shape{8, 6, 1};
    const SmoothSpec good{PixelType::f32, shape, shape, {0, 0}, 1, 1, false};
    const auto refused = [&](auto&& spoil) {
      SmoothSpec spec = good;
      spoil(spec);
      CHECK_THROWS_AS(SmoothPlan(device, spec), Error);
    };
    refused([](SmoothSpec& s) { s.sigma = -0.1; });
    refused([](SmoothSpec& s) { s.sigma = 1000.1; });
    refused([](SmoothSpec& s) { s.sigma = std::nan(""); });
    refused([](SmoothSpec& s) { s.spacing = 0; });
    refused([](SmoothSpec& s) { s.spacing = -1; });
    refused([](SmoothSpec& s) { s.spacing = INFINITY; });
    refused([](SmoothSpec& s) { s.origin.x = std::nan(""); });
    refused([](SmoothSpec& s) { s.input = PixelType::c32; });
    refused([](SmoothSpec& s) { s.input = PixelType::f16; });
    refused([](SmoothSpec& s) { s.shape.depth = 2; });
    refused([](SmoothSpec& s) { s.output.width = 0; });

    auto stream = device.make_stream();
    auto image = device.make_image(PixelType::f32, shape);
    auto output = device.make_image(PixelType::f32, shape);
    auto weight = device.make_image(PixelType::f32, shape);
    const auto bytes = device.make_image(PixelType::u8, shape);
    const auto small = device.make_image(PixelType::f32, {8, 5, 1});
    const SmoothPlan plan(device, good);
    CHECK_THROWS_AS(plan.execute(stream, bytes, output), Error);
    CHECK_THROWS_AS(plan.execute(stream, small, output), Error);
    CHECK_THROWS_AS(plan.execute(stream, image, image), Error);
    CHECK_THROWS_AS(plan.execute(stream, image, bytes, output, weight), Error);
    SmoothSpec masked = good;
    masked.masked = true;
    const SmoothPlan masked_plan(device, masked);
    CHECK_THROWS_AS(masked_plan.execute(stream, image, output), Error);
    CHECK_THROWS_AS(masked_plan.execute(stream, image, image, output, weight), Error);
    CHECK_THROWS_AS(masked_plan.execute(stream, image, bytes, output, output), Error);
  });
}

TEST_CASE("smooth: images of a stack equal single ones") {
  test::on_every_device([](const warpalign::Device& device) {
    constexpr std::int64_t images = 3;
    const auto tall = test::random_plane(40, 27 * images, 0, 1, 91);
    auto stream = device.make_stream();
    const auto flat = test::to_device(device, stream, tall);
    auto stack = device.make_image(PixelType::f32, {40, 27, images});
    stream.copy(flat.buffer(), stack.buffer());
    SmoothSpec spec{PixelType::f32, {40, 27, 1}, {17, 11, 1}, {1.5, 0.75},
                    2.25,           1.7,         false,       images};
    auto output = device.make_image(PixelType::f32, {17, 11, images});
    test::poison(stream, output);
    SmoothPlan(device, spec).execute(stream, stack, output);
    std::vector<float> together(17 * 11 * images);
    stream.download(output.buffer(), together.data(), together.size() * sizeof(float));
    spec.images = 1;
    const SmoothPlan alone(device, spec);
    for (std::int64_t i = 0; i < images; ++i) {
      reference::Plane one(40, 27);
      std::copy_n(tall.values.begin() + i * 40 * 27, 40 * 27, one.values.begin());
      const auto input = test::to_device(device, stream, one);
      auto smoothed = device.make_image(PixelType::f32, {17, 11, 1});
      alone.execute(stream, input, smoothed);
      std::vector<float> expected(17 * 11);
      stream.download(smoothed.buffer(), expected.data(), expected.size() * sizeof(float));
      CHECK(std::equal(expected.begin(), expected.end(), together.begin() + i * 17 * 11));
    }
    spec.images = 0;
    CHECK_THROWS_AS(SmoothPlan(device, spec), Error);
    CHECK_THROWS_AS(alone.execute(stream, stack, output), Error);
  });
}
