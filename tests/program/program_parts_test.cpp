// Luminance and overlay.
#include "luminance.hpp"
#include "overlay.hpp"
#include "picture.hpp"

#include <doctest/doctest.h>

#include <algorithm>

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
  const LoadedImage gray = luminance(image);
  const auto result = gray.samples<std::uint8_t>();
  CHECK(std::vector<int>(result.begin(), result.end()) == std::vector<int>{54, 182, 18, 255});
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

}  // namespace
}  // namespace warpalign::test
