// Luminance, overlay, and the running mean of a stack.
#include "commands/affine_map.hpp"
#include "commands/frame_warper.hpp"
#include "commands/running_mean.hpp"
#include "io/luminance.hpp"
#include "program/picture.hpp"
#include "program/run_program.hpp"
#include "reports/overlay.hpp"

#include <warpalign/open_device.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>

namespace warpalign::test {
namespace {

using namespace program;

TEST_CASE("luminance has the weights of BT.709 and rounds to nearest") {
  LoadedImage image = make_image(4, 1, 3, PixelType::u8);
  const auto samples = image.samples<std::uint8_t>();
  samples[0] = 255;                              // red
  samples[4] = 255;                              // green
  samples[8] = 255;                              // blue
  samples[9] = samples[10] = samples[11] = 255;  // white
  const Luminance luminance(image);
  const auto result = luminance.image().samples<std::uint8_t>();
  CHECK(std::vector<int>(result.begin(), result.end()) == std::vector<int>{54, 182, 18, 255});
}

TEST_CASE("the luminance of a gray image is the image, without a copy") {
  const LoadedImage image = make_image(4, 1, 1, PixelType::u16);
  CHECK(&Luminance(image).image() == &image);
}

TEST_CASE("an overlay is gray where the images agree and dimmed where one is missing") {
  const Shape shape{64, 48, 1};
  const LoadedImage image = draw({}, shape, 1, PixelType::u16);
  const LoadedImage picture = draw_overlay(image, image, Affine::translation(10, 0), shape);
  CHECK(picture.height == shape.height);
  CHECK(picture.width > 2 * shape.width);
  const auto samples = picture.samples<std::uint8_t>();
  const auto at = [&](std::int64_t x, std::int64_t y, int channel) {
    return static_cast<int>(
        samples[static_cast<std::size_t>(3 * (y * picture.width + x) + channel)]);
  };
  int brightest_inside = 0;
  for (std::int64_t y = 0; y < shape.height; ++y) {
    for (std::int64_t x = 0; x < shape.width; ++x) {
      const bool inside = x + 10 <= shape.width - 1;
      CHECK(at(x, y, 0) == at(x, y, 1));
      CHECK(at(x, y, 0) == at(x, y, 2));
      if (!inside) CHECK(at(x, y, 1) <= 90);
      if (inside) brightest_inside = std::max(brightest_inside, at(x, y, 1));
    }
  }
  CHECK(brightest_inside > 200);
}

TEST_CASE("an overlay shows the other pixels of images with NaN") {
  const Shape shape{64, 48, 1};
  LoadedImage image = draw({}, shape, 1, PixelType::f32);
  for (std::size_t i = 0; i < 600; ++i) {
    const bool odd = i % 2 == 1;
    image.samples<float>()[i] =
        odd ? std::numeric_limits<float>::quiet_NaN() : std::numeric_limits<float>::infinity();
  }
  const LoadedImage picture = draw_overlay(image, image, {}, shape);
  const auto samples = picture.samples<std::uint8_t>();
  CHECK(static_cast<int>(samples[0]) == 0);
  CHECK(static_cast<int>(samples[3]) == 0);
  const auto below = samples.subspan(static_cast<std::size_t>(3 * picture.width * 20));
  CHECK(*std::max_element(below.begin(), below.begin() + 3 * 64) > 150);
}

/// The mean at pixel x of row 20.
double mean_at(const LoadedImage& mean, std::int64_t x) {
  return static_cast<double>(mean.samples<float>()[static_cast<std::size_t>(20 * mean.width + x)]);
}

LoadedImage constant_frame(std::uint8_t value) {
  LoadedImage image = make_image(64, 48, 1, PixelType::u8);
  std::fill(image.pixels.begin(), image.pixels.end(), std::byte{value});
  return image;
}

TEST_CASE("a running mean ignores pixels outside of a frame") {
  require_test_device();
  FrameWarper warper(open_device(test_device()), {64, 48, 1}, {64, 48, 1});
  RunningMean mean({64, 48, 1}, {});
  AffineMap unmoved({}, warper);
  mean.add(constant_frame(100), unmoved);
  AffineMap moved(Affine::translation(10.5, 0), warper);
  mean.add(constant_frame(200), moved);
  // Single precision of numbers up to 200. Frame 1 ends at pixel 63 - 10.5 of frame 0.
  CHECK(mean_at(mean.mean(), 0) == doctest::Approx(150).epsilon(1e-5));
  CHECK(mean_at(mean.mean(), 52) == doctest::Approx(150).epsilon(1e-5));
  CHECK(mean_at(mean.mean(), 53) == doctest::Approx(100).epsilon(1e-5));
  CHECK_FALSE(mean.mask());
}

TEST_CASE("a running mean ignores masked pixels, and pixels whose spline reaches them") {
  require_test_device();
  LoadedImage mask = constant_frame(255);
  for (std::int64_t y = 0; y < 48; ++y) {
    for (std::int64_t x = 30; x < 64; ++x) {
      mask.samples<std::uint8_t>()[static_cast<std::size_t>(64 * y + x)] = 0;
    }
  }
  LoadedImage second = constant_frame(200);
  for (std::size_t i = 0; i < second.pixels.size(); ++i) {
    if (i % 64 >= 30) second.samples<std::uint8_t>()[i] = 0;
  }
  FrameWarper warper(open_device(test_device()), {64, 48, 1}, {64, 48, 1});
  RunningMean mean({64, 48, 1}, mask);
  AffineMap unmoved({}, warper);
  mean.add(constant_frame(100), unmoved);
  AffineMap moved(Affine::translation(10.5, 0), warper);
  mean.add(second, moved);
  const LoadedImage now = mean.mean();
  const LoadedImage valid = *mean.mask();
  const auto counts = [&](std::int64_t x) {
    return valid.samples<std::uint8_t>()[static_cast<std::size_t>(20 * 64 + x)] != 0;
  };
  // Pixel 17 is at 27.5 of frame 1, whose spline reads pixels 26 to 29; pixel 18 would read 30.
  CHECK(mean_at(now, 17) == doctest::Approx(150).epsilon(1e-5));
  CHECK(mean_at(now, 18) == doctest::Approx(100).epsilon(1e-5));
  // In frame 0 pixel 27 reads 26 to 29.
  CHECK(counts(27));
  CHECK_FALSE(counts(28));
  CHECK_FALSE(counts(63));
}

}  // namespace
}  // namespace warpalign::test
