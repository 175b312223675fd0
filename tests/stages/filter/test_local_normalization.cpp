// Local normalization against the oracle, on every device.
#include "reference/filter/local_normalization.hpp"
#include "support/compare.hpp"
#include "support/devices.hpp"
#include "support/random_images.hpp"
#include "support/transfer.hpp"

#include <warpalign/backend/stages/filter/local_normalization.hpp>
#include <warpalign/error.hpp>

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

namespace {

using warpalign::Error;
using warpalign::LocalNormalizationPlan;
using warpalign::PixelType;

// Values of standard deviation 0.3 around `level`, in illumination that varies by 2.
reference::Plane unevenly_lit(const test::Size& size, double level) {
  auto image = test::random_plane(size.width, size.height, -0.5, 0.5, 60);
  for (std::int64_t y = 0; y < size.height; ++y) {
    for (std::int64_t x = 0; x < size.width; ++x) {
      const double illumination = level + std::sin(0.05 * static_cast<double>(x + 2 * y));
      image.at(x, y) = static_cast<double>(static_cast<float>(image.at(x, y) + illumination));
    }
  }
  return image;
}

struct Case {
  test::Size size;
  double sigma = 3;
  double level = 0;  // of the image, and the mean that the stage receives
  double floor = 0.1;
};

// Moments of values up to 1.5 about the given mean are right to 3e-7. A difference of two of them
// over a deviation of at least the floor, 0.1, leaves some 6e-6, and its square root half of that.
constexpr double tolerance = 1e-5;

void compare(const warpalign::Device& device, const Case& c, const reference::Plane* weight) {
  CAPTURE(test::to_string(c.size));
  CAPTURE(c.sigma);
  const auto image = unevenly_lit(c.size, c.level);
  auto stream = device.make_stream();
  const auto input = test::to_device(device, stream, image);
  auto output = device.make_image(PixelType::f32, input.shape());
  test::poison(stream, output);
  const LocalNormalizationPlan plan(device, {input.shape(), c.sigma, weight != nullptr});
  const auto mean = static_cast<float>(c.level);
  const auto floor = static_cast<float>(c.floor);
  if (weight == nullptr) {
    plan.execute(stream, input, {mean, floor}, output);
  } else {
    const auto counts = test::to_device(device, stream, *weight);
    plan.execute(stream, input, counts, {mean, floor}, output);
    stream.finish();
  }
  const auto expected =
      reference::local_normalization(image, weight, c.sigma, static_cast<double>(floor));
  CHECK(test::max_difference(test::from_device(stream, output), expected) <= tolerance);
}

}  // namespace

TEST_CASE("local_normalization: every size, with narrow and wide windows") {
  test::on_every_device([](const warpalign::Device& device) {
    for (const test::Size& size : {test::Size{1, 1}, test::Size{1, 9}, test::Size{7, 1},
                                   test::Size{33, 17}, test::Size{130, 65}}) {
      for (const double sigma : {0.6, 3.1}) compare(device, {size, sigma}, nullptr);
    }
    compare(device, {{40, 30}, 50}, nullptr);
  });
}

TEST_CASE("local_normalization: a high level costs no precision when the mean is given") {
  test::on_every_device([](const warpalign::Device& device) {
    // Without the mean, squares of 200 would give a variance of 0.08 with an error of 0.005.
    compare(device, {{64, 48}, 3.1, 200}, nullptr);
  });
}

TEST_CASE(
    "local_normalization: pixels are weighted, and the result is 0 for weights below a half") {
  test::on_every_device([](const warpalign::Device& device) {
    for (const test::Size& size : {test::Size{5, 3}, test::Size{33, 17}, test::Size{130, 65}}) {
      auto weight = test::random_plane(size.width, size.height, 0, 1, 61);
      for (std::int64_t y = 0; y < size.height; ++y) {
        for (std::int64_t x = size.width / 2; x < size.width; ++x) weight.at(x, y) = x % 3 ? 0 : 1;
      }
      compare(device, {size, 3.1}, &weight);
    }
    const reference::Plane nothing(20, 10);
    compare(device, {{20, 10}, 3.1}, &nothing);
  });
}

TEST_CASE("local_normalization: images of a stack equal single ones") {
  test::on_every_device([](const warpalign::Device& device) {
    constexpr std::int64_t images = 3;
    const auto tall = unevenly_lit({45, 22 * images}, 0);
    auto stream = device.make_stream();
    const auto flat = test::to_device(device, stream, tall);
    auto stack = device.make_image(PixelType::f32, {45, 22, images});
    stream.copy(flat.buffer(), stack.buffer());
    auto output = device.make_image(PixelType::f32, stack.shape());
    test::poison(stream, output);
    LocalNormalizationPlan(device, {{45, 22, 1}, 3, false, images})
        .execute(stream, stack, {0, 0.1F}, output);
    std::vector<float> together(45 * 22 * images);
    stream.download(output.buffer(), together.data(), together.size() * sizeof(float));
    for (std::int64_t i = 0; i < images; ++i) {
      reference::Plane one(45, 22);
      std::copy_n(tall.values.begin() + i * 45 * 22, 45 * 22, one.values.begin());
      const auto expected = reference::local_normalization(one, nullptr, 3, 0.1F);
      test::WorstError worst;
      for (std::size_t k = 0; k < expected.values.size(); ++k) {
        const auto found = static_cast<double>(together[static_cast<std::size_t>(i) * 45 * 22 + k]);
        worst.add(std::abs(found - expected.values[k]));
      }
      CHECK(worst.value() <= tolerance);
    }
    CHECK_THROWS_AS(LocalNormalizationPlan(device, {{45, 22, 1}, 3, false, 0}), Error);
  });
}

TEST_CASE("local_normalization: images of a stack with levels of their own equal single ones") {
  test::on_every_device([](const warpalign::Device& device) {
    // Rows that sixteen does not divide: on CPUs, a block of rows belongs to two images.
    constexpr std::int64_t images = 3, width = 45, height = 22;
    const std::vector<warpalign::LocalLevels> levels{{200, 0.1F}, {0, 0.3F}, {-90, 0.02F}};
    auto stream = device.make_stream();
    std::vector<reference::Plane> planes;
    std::vector<float> together;
    for (const warpalign::LocalLevels& level : levels) {
      planes.push_back(unevenly_lit({width, height}, static_cast<double>(level.mean)));
      together.insert(together.end(), planes.back().values.begin(), planes.back().values.end());
    }
    auto stack = device.make_image(PixelType::f32, {width, height, images});
    stream.upload(together.data(), together.size() * sizeof(float), stack.buffer());
    auto output = device.make_image(PixelType::f32, stack.shape());
    test::poison(stream, output);
    const LocalNormalizationPlan plan(device, {{width, height, 1}, 3, false, images, true});
    plan.execute(stream, stack, levels, output);
    for (std::size_t i = 0; i < planes.size(); ++i) {
      CAPTURE(i);
      const auto expected = reference::local_normalization(planes[i], nullptr, 3,
                                                           static_cast<double>(levels[i].floor));
      CHECK(test::max_difference(test::from_device(stream, output, static_cast<std::int64_t>(i)),
                                 expected) <= tolerance);
    }
    CHECK_THROWS_AS(plan.execute(stream, stack, {0, 1}, output), Error);
    CHECK_THROWS_AS(plan.execute(stream, stack, std::span(levels).first(2), output), Error);
    CHECK_THROWS_AS(
        plan.execute(stream, stack, std::vector<warpalign::LocalLevels>(3, {0, 0}), output), Error);
    CHECK_THROWS_AS(LocalNormalizationPlan(device, {{width, height, 1}, 3, true, images, true}),
                    Error);
  });
}

TEST_CASE("local_normalization: the floor prevents amplification of areas without contrast") {
  test::on_every_device([](const warpalign::Device& device) {
    reference::Plane flat(40, 30);
    for (double& value : flat.values) value = 7;
    auto stream = device.make_stream();
    const auto input = test::to_device(device, stream, flat);
    auto output = device.make_image(PixelType::f32, input.shape());
    test::poison(stream, output);
    LocalNormalizationPlan(device, {input.shape(), 3, false})
        .execute(stream, input, {6.5F, 0.25F}, output);
    // 7 - 6.5 is exact; its mean is right to 1e-7, divided by a floor of a quarter.
    CHECK(test::max_difference(test::from_device(stream, output), reference::Plane(40, 30)) <=
          1e-6);
  });
}

TEST_CASE("local_normalization: wrong specifications, numbers and images are refused") {
  test::on_every_device([](const warpalign::Device& device) {
    const warpalign::Shape shape{8, 6, 1};
    for (const double sigma : {0.0, -1.0, 1000.5, std::nan("")}) {
      CHECK_THROWS_AS(LocalNormalizationPlan(device, {shape, sigma, false}), Error);
    }
    CHECK_THROWS_AS(LocalNormalizationPlan(device, {{8, 0, 1}, 3, false}), Error);
    auto stream = device.make_stream();
    auto image = device.make_image(PixelType::f32, shape);
    auto output = device.make_image(PixelType::f32, shape);
    const auto weight = device.make_image(PixelType::f32, shape);
    const auto bytes = device.make_image(PixelType::u8, shape);
    const LocalNormalizationPlan plan(device, {shape, 3, false});
    for (const float floor : {0.0F, -1.0F, std::nanf("")}) {
      CHECK_THROWS_AS(plan.execute(stream, image, {0, floor}, output), Error);
    }
    CHECK_THROWS_AS(plan.execute(stream, image, {std::nanf(""), 1}, output), Error);
    CHECK_THROWS_AS(plan.execute(stream, bytes, {0, 1}, output), Error);
    CHECK_THROWS_AS(plan.execute(stream, image, {0, 1}, image), Error);
    CHECK_THROWS_AS(plan.execute(stream, image, weight, {0, 1}, output), Error);
    const LocalNormalizationPlan masked(device, {shape, 3, true});
    CHECK_THROWS_AS(masked.execute(stream, image, {0, 1}, output), Error);
    CHECK_THROWS_AS(masked.execute(stream, image, bytes, {0, 1}, output), Error);
    CHECK_THROWS_AS(masked.execute(stream, image, output, {0, 1}, output), Error);
  });
}
