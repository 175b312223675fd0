// The levels of an image: their geometry, which pixels count, and independence of the previous
// image.
#include "registration/pyramid/image_pyramid.hpp"

#include "registration/search/drawn_pair.hpp"
#include "support/compare.hpp"
#include "support/devices.hpp"

#include <warpalign/error.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace {

namespace detail = warpalign::detail;
using detail::ImagePyramid;
using detail::PyramidLevel;
using warpalign::Image;
using warpalign::Point;
using warpalign::Shape;

constexpr Shape shape{90, 70, 1};

std::vector<float> pixels_of(warpalign::Stream& stream, const Image& image) {
  std::vector<float> values(static_cast<std::size_t>(image.shape().pixels()));
  stream.download(image, values.data(), values.size() * sizeof(float));
  return values;
}

std::vector<std::uint8_t> mask_of(warpalign::Stream& stream, const ImagePyramid& pyramid) {
  std::vector<std::uint8_t> mask(static_cast<std::size_t>(pyramid.shape().plane()));
  stream.download(*pyramid.mask(), mask.data(), mask.size());
  return mask;
}

}  // namespace

TEST_CASE("image pyramid: levels are sampled symmetrically about the image's centre") {
  test::on_every_device([](const warpalign::Device& device) {
    test::DrawnPair pair(device, shape, shape);
    // A paraboloid: a Gaussian of variance v raises it by 2 v everywhere.
    std::vector<float> pixels;
    const auto height = [](double x, double y) { return 0.01 * (x * x + y * y) + 0.3 * x; };
    for (std::int64_t i = 0; i < shape.plane(); ++i) {
      pixels.push_back(
          static_cast<float>(height(static_cast<double>(i % 90), static_cast<double>(i / 90))));
    }
    pair.take(pair.reference, pixels);
    for (const double spacing : {1.0, 1.5, 2.0, 4.0}) {
      CAPTURE(spacing);
      PyramidLevel& level = pair.reference.level(pair.stream, pair.clock, {spacing});
      const Shape& size = level.shape();
      CHECK(size.width == static_cast<std::int64_t>(89 / spacing) + 1);
      CHECK(size.height == static_cast<std::int64_t>(69 / spacing) + 1);
      // The margins on both sides are equal.
      const Point first = level.to_image()({0, 0});
      const Point last = level.to_image()(
          {static_cast<double>(size.width - 1), static_cast<double>(size.height - 1)});
      CHECK(first.x == doctest::Approx(89 - last.x));
      CHECK(first.y == doctest::Approx(69 - last.y));
      CHECK(last.x - first.x == doctest::Approx(spacing * static_cast<double>(size.width - 1)));
      const std::vector<float> values = pixels_of(pair.stream, level.values());
      const double sigma = spacing > 1 ? 0.5 * spacing : 0;
      for (std::int64_t v = size.height / 4; v < 3 * size.height / 4; v += 3) {
        for (std::int64_t u = size.width / 4; u < 3 * size.width / 4; u += 3) {
          const Point p = level.to_image()({static_cast<double>(u), static_cast<double>(v)});
          // A truncated Gaussian with few taps has a slightly different variance.
          CHECK(values[static_cast<std::size_t>(v * size.width + u)] ==
                doctest::Approx(height(p.x, p.y) + 0.02 * sigma * sigma).epsilon(2e-3));
        }
      }
    }
    PyramidLevel& few = pair.reference.level(pair.stream, pair.clock, {2, 20});
    CHECK(few.shape() == Shape{20, 20, 1});
    CHECK(few.to_image()({9.5, 9.5}).x == doctest::Approx(44.5));
  });
}

TEST_CASE(
    "image pyramid: normalized levels have mean 0 and deviation about 1 in any illumination") {
  test::on_every_device([](const warpalign::Device& device) {
    test::DrawnPair pair(device, shape, shape);
    std::vector<float> pixels = test::Spots(31).drawn(shape, {});
    std::vector<float> lit = pixels;
    for (std::size_t i = 0; i < lit.size(); ++i) {
      lit[i] = 1000 + 50 * lit[i] * (1 + static_cast<float>(i % 90) / 45);
    }
    std::vector<std::vector<float>> both;
    for (const std::vector<float>& image : {pixels, lit}) {
      pair.take(pair.reference, image);
      PyramidLevel& level = pair.reference.level(pair.stream, pair.clock, {2});
      const auto normalized =
          pixels_of(pair.stream, pair.reference.normalized(pair.stream, pair.clock, level));
      double sum = 0, squares = 0;
      for (const float value : normalized) {
        sum += value;
        squares += static_cast<double>(value) * value;
      }
      const auto n = static_cast<double>(normalized.size());
      CHECK(std::abs(sum / n) < 0.1);
      CHECK(squares / n > 0.5);
      CHECK(squares / n < 1.5);
      both.push_back(normalized);
      // The spline's coefficients belong to the current image, not to the previous one.
      const auto coefficients =
          pixels_of(pair.stream, pair.reference.coefficients(pair.stream, pair.clock, level));
      for (std::size_t i = 45 * 17 + 20; i < 45 * 17 + 25; ++i) {
        // A cubic spline's value at a sample: 4/6 of its own coefficient, 1/6 of each neighbour's.
        double value = 0;
        for (int v = -1; v <= 1; ++v) {
          for (int u = -1; u <= 1; ++u) {
            const double weight = (u == 0 ? 4 : 1) * (v == 0 ? 4 : 1) / 36.0;
            value += weight * coefficients[i + static_cast<std::size_t>(v + 1) * 45 - 45 +
                                           static_cast<std::size_t>(u + 1) - 1];
          }
        }
        CHECK(value == doctest::Approx(normalized[i]).epsilon(1e-3));
      }
    }
    // Local normalization removes illumination that changes over the image, apart from changes
    // within a window.
    double product = 0, first = 0, second = 0;
    for (std::size_t i = 0; i < both[0].size(); ++i) {
      product += static_cast<double>(both[0][i]) * both[1][i];
      first += static_cast<double>(both[0][i]) * both[0][i];
      second += static_cast<double>(both[1][i]) * both[1][i];
    }
    CHECK(product / std::sqrt(first * second) > 0.99);
  });
}

TEST_CASE("image pyramid: a constant border and the pixels it affects are masked, no others") {
  test::on_every_device([](const warpalign::Device& device) {
    for (const Shape& size : {Shape{120, 100, 1}, Shape{600, 420, 1}}) {
      CAPTURE(size.width);
      test::DrawnPair pair(device, size, size);
      std::mt19937 random(3);
      std::uniform_real_distribution<float> uniform(20, 120);
      std::vector<float> texture(static_cast<std::size_t>(size.plane()));
      for (float& value : texture) value = uniform(random);
      // A quarter of the width on the left, and none elsewhere.
      const std::int64_t border = size.width / 4;
      std::vector<float> pixels = texture;
      for (std::int64_t i = 0; i < size.plane(); ++i) {
        if (i % size.width < border) pixels[static_cast<std::size_t>(i)] = 7;
      }
      pair.take(pair.reference, texture);
      CHECK(pair.reference.mask() == nullptr);
      CHECK(pair.reference.num_unmasked(1000) == 1000);
      pair.take(pair.reference, pixels);
      REQUIRE(pair.reference.mask() != nullptr);
      const auto mask = mask_of(pair.stream, pair.reference);
      // The border is widened by three pixels of the level on which it was measured, plus one for
      // rounding.
      const double unit = std::max(1.0, static_cast<double>(size.width) / 256);
      double counted = 0;
      std::size_t wrong = 0;
      for (std::int64_t i = 0; i < size.plane(); ++i) {
        const auto beyond = static_cast<double>(i % size.width - border);
        const bool counts = mask[static_cast<std::size_t>(i)] != 0;
        wrong += (beyond < 0 && counts) || (beyond > 5 * unit && !counts) ? 1U : 0U;
        counted += counts ? 1 : 0;
      }
      CHECK(wrong == 0);
      CHECK(pair.reference.num_unmasked(1000) ==
            doctest::Approx(1000 * counted / static_cast<double>(size.plane())).epsilon(0.02));
      PyramidLevel& level = pair.reference.level(pair.stream, pair.clock, {2});
      CHECK(level.masked());
      const auto weights = pixels_of(pair.stream, *level.weight());
      CHECK(weights.front() == 0);
      CHECK(weights.back() == 1);
      // The next image has no border.
      pair.take(pair.reference, texture);
      CHECK(pair.reference.mask() == nullptr);
      CHECK_FALSE(pair.reference.level(pair.stream, pair.clock, {2}).masked());
    }
  });
}

TEST_CASE("image pyramid: masks are used unchanged, and invalid images are refused") {
  test::on_every_device([](const warpalign::Device& device) {
    test::DrawnPair pair(device, shape, shape);
    std::vector<float> pixels = test::Spots(32).drawn(shape, {});
    std::vector<std::uint8_t> mask(pixels.size(), 1);
    for (std::size_t i = 0; i < mask.size(); ++i) mask[i] = i % 90 < 30 ? 0 : 1;
    for (std::size_t i = 0; i < mask.size(); ++i) {
      if (mask[i] == 0) pixels[i] = std::numeric_limits<float>::quiet_NaN();
    }
    pair.take(pair.reference, pixels, &mask);
    REQUIRE(pair.reference.mask() != nullptr);
    CHECK(mask_of(pair.stream, pair.reference) == mask);
    CHECK(pair.reference.num_unmasked(900) == doctest::Approx(600).epsilon(0.01));
    CHECK(pair.reference.missing() == 0);
    // Pixels without a value are masked, too.
    pair.take(pair.reference, pixels);
    REQUIRE(pair.reference.mask() != nullptr);
    CHECK(mask_of(pair.stream, pair.reference) == mask);
    CHECK(pair.reference.missing() == std::count(mask.begin(), mask.end(), 0));
    for (const float level : {0.0F, 5.0F, -1e6F}) {
      CHECK_THROWS_AS(pair.take(pair.reference, std::vector<float>(pixels.size(), level)),
                      warpalign::Error);
    }
    const std::vector<std::uint8_t> none(pixels.size(), 0);
    pixels = test::Spots(32).drawn(shape, {});
    CHECK_THROWS_AS(pair.take(pair.reference, pixels, &none), warpalign::Error);
    // Low contrast, a ten thousandth of the mean, but not constant.
    for (float& value : pixels) value = 1e4F + value;
    CHECK_NOTHROW(pair.take(pair.reference, pixels));
  });
}

TEST_CASE("image pyramid: isolated impulses are filled in, genuine extremes are not") {
  test::on_every_device([](const warpalign::Device& device) {
    test::DrawnPair pair(device, shape, shape);
    const std::vector<float> clean = test::Spots(33).drawn(shape, {});
    pair.take(pair.reference, clean);
    CHECK(pixels_of(pair.stream, pair.reference.pixels()) == clean);
    std::vector<float> salted = clean;
    for (std::size_t i = 3; i < salted.size(); i += 17) salted[i] = i % 2 == 0 ? 8.0F : -8.0F;
    pair.take(pair.reference, salted);
    const auto filled = pixels_of(pair.stream, pair.reference.pixels());
    test::WorstError worst;
    for (const float pixel : filled) worst.add(std::abs(pixel));
    CHECK(worst.value() < 6);
    // With a mask nothing is filled in, because masked pixels may have any value.
    const std::vector<std::uint8_t> mask(clean.size(), 1);
    pair.take(pair.reference, salted, &mask);
    CHECK(pixels_of(pair.stream, pair.reference.pixels()) == salted);
  });
}
