// Arrays resampled by tiles against the same arrays resampled at once, on every device.
#include "support/compare.hpp"
#include "support/devices.hpp"
#include "support/volumes.hpp"

#include <warpalign/error.hpp>
#include <warpalign/tiles.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <vector>

namespace {

using warpalign::Affine;
using warpalign::Boundary;
using warpalign::Error;
using warpalign::HomogeneousMatrix;
using warpalign::PixelType;
using warpalign::ResamplePlan;
using warpalign::ResampleSpec;
using warpalign::Shape;
using warpalign::TiledResampler;

std::vector<float> random_values(const Shape& shape, std::uint32_t seed) {
  const reference::Volume volume = test::random_volume(shape, -1, 1, seed);
  return {volume.values.begin(), volume.values.end()};
}

ResampleSpec spec_of(const Shape& image, const Shape& output, int degree, Boundary boundary) {
  ResampleSpec spec;
  spec.images.shape = image;
  spec.output = output;
  spec.images.dimensions = image.depth > 1 ? 3 : 2;
  spec.spline.degree = degree;
  spec.spline.boundary = boundary;
  spec.spline.cval = 0.5;
  if (degree < 2) spec.spline.prefilter.reset();
  return spec;
}

/// With this limit a plan fits into memory, and its first tile is the whole output.
constexpr std::size_t ample = std::size_t{1} << 30;

/// The largest difference between one tile and many.
double difference(const warpalign::Device& device, const ResampleSpec& spec,
                  const HomogeneousMatrix& transform, std::size_t limit,
                  const std::vector<float>& image) {
  std::vector<float> whole(static_cast<std::size_t>(spec.output.pixels()), -7.0F);
  std::vector<float> tiled(whole.size(), -8.0F);
  CHECK(TiledResampler(device, spec, ample).execute(image.data(), transform, whole.data()) == 1);
  CHECK(TiledResampler(device, spec, limit).execute(image.data(), transform, tiled.data()) > 1);
  test::WorstError worst;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    worst.add(std::abs(static_cast<double>(tiled[i]) - static_cast<double>(whole[i])));
  }
  return worst.value();
}

/// The tolerance is 4e-7 of the largest coefficient. For samples up to 1 coefficients are up to 3
/// for each axis of degree 3 and 4.6 of degree 5; those of random samples stay below 4 and 8. Both
/// results have errors within the tolerance, so they may differ by twice as much.
double tolerance(int degree) { return 2 * 4e-7 * (degree > 3 ? 8 : degree > 1 ? 4 : 1); }

bool is_periodic(Boundary boundary) {
  return boundary == Boundary::wrap || boundary == Boundary::grid_wrap;
}

/// With a periodic boundary, coordinates of points outside the image are rounded once more, by
/// half of the last bit of a float below 256; the spline's slope is at most 4 per pixel.
constexpr double rounding = 0x1p-17 * 4;

}  // namespace

TEST_CASE("tiled resampler: every degree and boundary of images") {
  const Shape image{401, 333, 1}, output{377, 390, 1};
  const std::vector<float> samples = random_values(image, 81);
  // No point lies halfway between samples, where degree 0 jumps.
  const Affine turn{0.95, -0.31, 12.3137, 0.31, 0.95, -20.4171};
  test::on_every_device([&](const warpalign::Device& device) {
    for (const Boundary boundary : test::boundaries()) {
      for (int degree = 0; degree <= 5; ++degree) {
        CAPTURE(std::string(warpalign::name_of(boundary)));
        CAPTURE(degree);
        const ResampleSpec spec = spec_of(image, output, degree, boundary);
        // With `wrap` a tile across the seam needs whole rows or columns.
        const std::size_t limit = boundary != Boundary::wrap ? 400000
                                  : degree < 2               ? 800000
                                                             : 1200000;
        CHECK(difference(device, spec, turn, limit, samples) <= tolerance(degree));
      }
    }
  });
}

TEST_CASE("tiled resampler: volumes") {
  const Shape image{96, 88, 80}, output{50, 44, 49};
  const std::vector<float> samples = random_values(image, 82);
  HomogeneousMatrix turn = Affine{0.9, -0.2, 9.3137, 0.25, 0.95, -3.4171};
  turn.m[10] = 1.03;
  turn.m[11] = -1.213;
  test::on_every_device([&](const warpalign::Device& device) {
    for (const Boundary boundary : {Boundary::constant, Boundary::nearest, Boundary::grid_wrap}) {
      CAPTURE(std::string(warpalign::name_of(boundary)));
      const ResampleSpec spec = spec_of(image, output, 3, boundary);
      CHECK(difference(device, spec, turn, 5000000, samples) <= 2 * tolerance(3));
    }
  });
}

TEST_CASE("tiled resampler: given points, some of them NaN") {
  const Shape image{300, 280, 1}, output{200, 190, 1};
  const std::vector<float> samples = random_values(image, 83);
  std::vector<float> points;
  for (std::int64_t row = 0; row < 2; ++row) {
    for (std::int64_t i = 0; i < output.pixels(); ++i) {
      const auto x = static_cast<float>(i % output.width), y = static_cast<float>(i / output.width);
      points.push_back(row == 0 ? 1.25F * x + 8 * std::sin(y / 16) : 1.5F * y + x / 32 - 3);
    }
  }
  points[777] = std::numeric_limits<float>::quiet_NaN();
  test::on_every_device([&](const warpalign::Device& device) {
    for (const Boundary boundary : test::boundaries()) {
      CAPTURE(std::string(warpalign::name_of(boundary)));
      const ResampleSpec spec = spec_of(image, output, 3, boundary);
      std::vector<float> whole(static_cast<std::size_t>(output.pixels()), -7.0F);
      std::vector<float> tiled(whole.size(), -8.0F);
      CHECK(TiledResampler(device, spec, ample).execute(samples.data(), points, whole.data()) == 1);
      const std::size_t limit = boundary == Boundary::wrap ? 900000 : 500000;
      CHECK(TiledResampler(device, spec, limit).execute(samples.data(), points, tiled.data()) > 1);
      test::WorstError worst;
      for (std::size_t i = 0; i < whole.size(); ++i) {
        worst.add(std::abs(static_cast<double>(tiled[i] - whole[i])));
      }
      CHECK(worst.value() <= tolerance(3) + (is_periodic(boundary) ? rounding : 0));
      CHECK(tiled[777] == 0.5F);
    }
  });
}

TEST_CASE("tiled resampler: integers are rounded and saturated as without tiles") {
  const Shape image{320, 240, 1};
  std::vector<std::uint16_t> samples(static_cast<std::size_t>(image.pixels()));
  for (std::size_t i = 0; i < samples.size(); ++i) {
    samples[i] = static_cast<std::uint16_t>(i * 40503U % 65536U);
  }
  test::on_every_device([&](const warpalign::Device& device) {
    ResampleSpec spec = spec_of(image, image, 1, Boundary::constant);
    spec.input = spec.output_type = PixelType::u16;
    spec.spline.cval = 123;
    // A shift by quarters of pixels, for which linear interpolation of integers is exact.
    const Affine shift = Affine::translation(-30.25, 17.5);
    std::vector<std::uint16_t> whole(samples.size()), tiled(samples.size());
    TiledResampler(device, spec, ample).execute(samples.data(), shift, whole.data());
    CHECK(TiledResampler(device, spec, 300000).execute(samples.data(), shift, tiled.data()) > 3);
    CHECK(whole == tiled);
  });
}

TEST_CASE("tiled resampler: empty images and mismatched coordinates are refused") {
  test::on_every_device([](const warpalign::Device& device) {
    const warpalign::Shape shape{12, 9, 1};
    warpalign::TiledResampler resampler(device, {.images = {.shape = shape}, .output = shape});
    std::vector<float> pixels(108), output(108), coordinates(217);
    CHECK_THROWS_WITH_AS(resampler.execute(nullptr, warpalign::HomogeneousMatrix(), output.data()),
                         doctest::Contains("no pixels"), warpalign::Error);
    CHECK_THROWS_WITH_AS(resampler.execute(pixels.data(), coordinates, nullptr),
                         doctest::Contains("no pixels"), warpalign::Error);
    CHECK_THROWS_WITH_AS(resampler.execute(pixels.data(), coordinates, output.data()),
                         doctest::Contains("there are 217 coordinates, but the output needs 216"),
                         warpalign::Error);
    coordinates.pop_back();
    CHECK_NOTHROW(resampler.execute(pixels.data(), coordinates, output.data()));
  });
}

TEST_CASE("tiled resampler: too little memory for any tile, and a wrong batch, are refused") {
  test::on_every_device([&](const warpalign::Device& device) {
    ResampleSpec spec = spec_of({300, 300, 1}, {300, 300, 1}, 3, Boundary::mirror);
    const std::vector<float> samples(90000, 1.0F);
    std::vector<float> result(90000);
    TiledResampler small(device, spec, 2000);
    CHECK_THROWS_AS(small.execute(samples.data(), HomogeneousMatrix(), result.data()), Error);
    spec.images.count = 2;
    CHECK_THROWS_WITH_AS(TiledResampler(device, spec), doctest::Contains("images.count must be 1"),
                         Error);
  });
}

TEST_CASE("tiled resampler: an environment variable sets the memory limit") {
  test::on_every_device([&](const warpalign::Device& device) {
    const std::size_t own = warpalign::max_device_memory(device);
    CHECK(own <= device.info().memory_bytes);
    CHECK(own > 0);
    for (const auto& [text, bytes] :
         {std::pair{"1500000", std::size_t{1500000}}, std::pair{"12K", std::size_t{12} << 10},
          std::pair{"3G", std::size_t{3} << 30}}) {
      setenv("WARPALIGN_MAX_DEVICE_MEMORY", text, 1);
      CHECK(warpalign::max_device_memory(device) == bytes);
    }
    for (const char* wrong : {"much", "0", "-5", "3T", "1.5G", "99999999999999999999"}) {
      CAPTURE(wrong);
      setenv("WARPALIGN_MAX_DEVICE_MEMORY", wrong, 1);
      CHECK_THROWS_WITH_AS(static_cast<void>(warpalign::max_device_memory(device)),
                           doctest::Contains("WARPALIGN_MAX_DEVICE_MEMORY"), Error);
    }
    unsetenv("WARPALIGN_MAX_DEVICE_MEMORY");
  });
}
