// Flat fields: the division against the formula in double, and the estimate against the
// illumination with which tiles were drawn.
#include "mosaic/drawn_mosaic.hpp"

#include <warpalign/error.hpp>
#include <warpalign/flat_field.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace warpalign;

constexpr Shape flat_tile{96, 80, 1};

HostImage view(const std::vector<float>& pixels) {
  return {pixels.data(), PixelType::f32, flat_tile.width, flat_tile.height, 0};
}

HostImage view(const std::vector<std::uint16_t>& pixels) {
  return {pixels.data(), PixelType::u16, flat_tile.width, flat_tile.height, 0};
}

/// The illumination at a pixel: bright right of the middle, dark in the corners. Its mean is not 1.
double light_at(std::int64_t x, std::int64_t y) {
  const double u = 2 * static_cast<double>(x) / static_cast<double>(flat_tile.width - 1) - 1;
  const double v = 2 * static_cast<double>(y) / static_cast<double>(flat_tile.height - 1) - 1;
  return 1.1 - 0.25 * (u - 0.2) * (u - 0.2) - 0.2 * v * v;
}

std::vector<float> light(double factor = 1) {
  std::vector<float> pixels;
  for (std::int64_t y = 0; y < flat_tile.height; ++y) {
    for (std::int64_t x = 0; x < flat_tile.width; ++x) {
      pixels.push_back(static_cast<float>(factor * light_at(x, y)));
    }
  }
  return pixels;
}

double mean_light() {
  double sum = 0;
  for (std::int64_t y = 0; y < flat_tile.height; ++y) {
    for (std::int64_t x = 0; x < flat_tile.width; ++x) sum += light_at(x, y);
  }
  return sum / static_cast<double>(flat_tile.plane());
}

std::string message_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::invalid_argument);
    return error.message();
  }
  return "nothing was thrown";
}

TEST_CASE("a flat field divides what lies above the dark image, in any unit") {
  const std::vector<float> given = light(23000);
  std::vector<float> dark;
  std::vector<std::uint16_t> tile;
  std::mt19937 random(3);
  std::uniform_int_distribution<int> level(90, 110);
  for (std::int64_t i = 0; i < flat_tile.plane(); ++i) {
    dark.push_back(static_cast<float>(level(random)));
    tile.push_back(static_cast<std::uint16_t>(3 * level(random) * level(random)));
  }
  tile[5] = 0;
  tile[6] = 65535;
  const FlatField field(view(given), view(dark));
  double dark_mean = 0;
  for (const float d : dark) dark_mean += d / static_cast<double>(flat_tile.plane());
  std::vector<std::uint16_t> even(tile.size());
  field.apply(view(tile), even.data());
  std::vector<float> numbers(tile.begin(), tile.end());
  field.apply(view(numbers), numbers.data());
  const double mean = mean_light();
  double worst = 0;
  double worst_rounded = 0;
  double clipped = 0;
  for (std::size_t i = 0; i < tile.size(); ++i) {
    const double flat = light_at(static_cast<std::int64_t>(i) % flat_tile.width,
                                 static_cast<std::int64_t>(i) / flat_tile.width) /
                        mean;
    const double expected = (tile[i] - dark[i]) / flat + dark_mean;
    worst = std::max(worst, std::abs(numbers[i] - expected));
    const double limited = std::clamp(expected, 0.0, 65535.0);
    if (limited != expected) ++clipped;
    worst_rounded = std::max(worst_rounded, std::abs(even[i] - limited));
  }
  // Single precision holds 65535 to 0.004, twice as much where the light halves it.
  CHECK(worst < 0.02);
  CHECK(worst_rounded < 0.52);
  CHECK(clipped == 2);
}

TEST_CASE("the illumination of tiles is estimated") {
  const test::SpotScene scene(3000, 3000, 7);
  std::mt19937 random(5);
  std::uniform_real_distribution<double> place(0, 2900);
  std::vector<float> dark(static_cast<std::size_t>(flat_tile.plane()), 300);
  FlatFieldEstimator estimator(flat_tile, view(dark));
  for (int i = 0; i < 40; ++i) {
    std::vector<std::uint16_t> tile = scene.draw(flat_tile, {place(random), place(random)});
    for (std::size_t p = 0; p < tile.size(); ++p) {
      const auto x = static_cast<std::int64_t>(p) % flat_tile.width;
      const auto y = static_cast<std::int64_t>(p) / flat_tile.width;
      tile[p] =
          static_cast<std::uint16_t>(std::lround(light_at(x, y) * (6000 + tile[p] / 4) + 300));
    }
    estimator.add(view(tile));
  }
  // Neither counts: empty, and not a number.
  estimator.add(view(dark));
  std::vector<float> broken = light(1000);
  broken[17] = std::numeric_limits<float>::quiet_NaN();
  estimator.add(view(broken));
  const std::vector<float> flat = estimator.estimate();
  const double mean = mean_light();
  double sum = 0;
  double squares = 0;
  for (std::size_t i = 0; i < flat.size(); ++i) {
    const double truth = light_at(static_cast<std::int64_t>(i) % flat_tile.width,
                                  static_cast<std::int64_t>(i) / flat_tile.width) /
                         mean;
    sum += flat[i];
    squares += std::pow(flat[i] / truth - 1, 2);
  }
  const auto pixels = static_cast<double>(flat.size());
  CHECK(sum / pixels == doctest::Approx(1).epsilon(1e-5));
  // Where spots lie, a cell is some 25 % brighter or darker; the median of 40 tiles leaves 5 %.
  // Spots are as large as a dozen cells, of which the 15 terms fit 1 in 11: 5 % / sqrt(11).
  CHECK(std::sqrt(squares / pixels) < 0.02);
}

TEST_CASE("wrong flat fields are refused") {
  const std::vector<float> good = light();
  std::vector<float> bad = good;
  for (const float wrong : {0.0F, -1.0F, std::numeric_limits<float>::quiet_NaN(),
                            std::numeric_limits<float>::infinity()}) {
    CAPTURE(wrong);
    bad[40] = wrong;
    CHECK(message_of([&] { FlatField field(view(bad)); }) ==
          "the flat field must be above 0 and finite everywhere");
  }
  CHECK(message_of([&] { FlatField field(view(good), view(bad)); }) ==
        "dark must be finite everywhere");
  const HostImage small{good.data(), PixelType::f32, flat_tile.width, flat_tile.height - 1, 0};
  CHECK(message_of([&] { FlatField field(view(good), small); }).starts_with("dark is 96 x 79"));
  const FlatField field(view(good));
  std::vector<float> output(good.size());
  CHECK(message_of([&] { field.apply(small, output.data()); }).starts_with("a tile is 96 x 79"));
  FlatFieldEstimator estimator(flat_tile);
  CHECK(message_of([&] { estimator.add(small); }).starts_with("a tile is 96 x 79"));
  estimator.add(view(good));
  estimator.add(view(good));
  CHECK(message_of([&] { (void)estimator.estimate(); }) ==
        "the illumination needs at least 3 tiles that are brighter than dark, not 2");
}

}  // namespace
