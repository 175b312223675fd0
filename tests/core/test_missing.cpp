// Which samples are missing, and the values that take their place.
#include <warpalign/error.hpp>
#include <warpalign/missing.hpp>

#include <doctest/doctest.h>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

using warpalign::fill_missing;
using warpalign::HostImage;
using warpalign::known_samples;
using warpalign::PixelType;
using warpalign::Shape;

namespace {

constexpr float nan_value = std::numeric_limits<float>::quiet_NaN();
constexpr float infinite = std::numeric_limits<float>::infinity();

using Known = std::vector<std::uint8_t>;

template <typename Sample>
HostImage view(const std::vector<Sample>& samples, PixelType type, std::int64_t width) {
  return {samples.data(), type, width, static_cast<std::int64_t>(samples.size()) / width, 0};
}

}  // namespace

TEST_CASE("missing: NaN and infinities of every floating-point type") {
  const std::vector<float> singles{1, nan_value, -infinite, 4};
  const auto found = known_samples(view(singles, PixelType::f32, 2));
  CHECK(found.known == Known{1, 0, 0, 1});
  CHECK(found.missing == 2);
  const std::vector<double> doubles{std::nan(""), 1e300};
  CHECK(known_samples(view(doubles, PixelType::f64, 2)).known == Known{0, 1});
  const std::vector<std::uint16_t> halves{0x3C00, 0x7E00, 0xFC00, 0x7BFF};  // 1, NaN, -inf, 65504
  CHECK(known_samples(view(halves, PixelType::f16, 4)).known == Known{1, 0, 0, 1});
  const std::vector<float> pairs{1, nan_value, 3, 4};  // two complex numbers
  CHECK(known_samples(HostImage{pairs.data(), PixelType::c32, 2, 1, 0}).known == Known{0, 1});
}

TEST_CASE("missing: a nodata value of every type") {
  const std::vector<std::uint8_t> bytes{0, 255, 7};
  CHECK(known_samples(view(bytes, PixelType::u8, 3), 255.0).known == Known{1, 0, 1});
  CHECK(known_samples(view(bytes, PixelType::u8, 3)).missing == 0);
  const std::vector<std::int32_t> wide{-2147483647 - 1, 0, 2147483647};
  CHECK(known_samples(view(wide, PixelType::i32, 3), -2147483648.0).known == Known{0, 1, 1});
  const std::vector<float> singles{-9999, nan_value, 0};
  CHECK(known_samples(view(singles, PixelType::f32, 3), -9999.0).known == Known{0, 0, 1});
  // 2048, -0, the least number above 0, and 65504
  const std::vector<std::uint16_t> halves{0x6800, 0x8000, 0x0001, 0x7BFF};
  CHECK(known_samples(view(halves, PixelType::f16, 4), 2048.0).known == Known{0, 1, 1, 1});
  CHECK(known_samples(view(halves, PixelType::f16, 4), 0.0).known == Known{1, 0, 1, 1});
  CHECK(known_samples(view(halves, PixelType::f16, 4), std::ldexp(1, -24)).known ==
        Known{1, 1, 0, 1});
  CHECK(known_samples(view(halves, PixelType::f16, 4), 65504.0).known == Known{1, 1, 1, 0});
}

TEST_CASE("missing: a nodata value that no sample can have is refused") {
  const std::vector<std::uint8_t> bytes{0, 255, 7};
  for (const double value : {256.0, -1.0, 0.5, std::nan("")}) {
    CAPTURE(value);
    CHECK_THROWS_AS((void)known_samples(view(bytes, PixelType::u8, 3), value), warpalign::Error);
  }
  CHECK_FALSE(can_hold(PixelType::f16, 1e5));
  CHECK_FALSE(can_hold(PixelType::f16, 2049));
  CHECK(can_hold(PixelType::f16, 2050));
  CHECK_FALSE(can_hold(PixelType::f32, 1e39));
  CHECK_FALSE(can_hold(PixelType::f32, 0.1));
  CHECK(can_hold(PixelType::f64, 0.1));
  CHECK(can_hold(PixelType::f32, std::nan("")));
}

TEST_CASE("missing: rows with padding") {
  const std::vector<float> samples{1, nan_value, nan_value,
                                   2, 3,         nan_value};  // two of each three are pixels
  const HostImage image{samples.data(), PixelType::f32, 2, 2, 3 * sizeof(float)};
  CHECK(known_samples(image).known == Known{1, 0, 1, 1});
}

TEST_CASE("missing: a linear ramp continues through a hole") {
  // The Laplacian of a ramp is 0, so the minimum is the ramp itself. 20 steps come near to it.
  const Shape shape{24, 20, 18};
  std::vector<double> values(static_cast<std::size_t>(shape.pixels()));
  Known known(values.size(), 1);
  std::vector<double> expected(values.size());
  for (std::int64_t i = 0; i < shape.pixels(); ++i) {
    const std::int64_t x = i % 24, y = i / 24 % 20, z = i / (24 * 20);
    const auto at = static_cast<std::size_t>(i);
    expected[at] = 3 * static_cast<double>(x) - static_cast<double>(y) + static_cast<double>(z) / 2;
    const bool in_hole = x >= 9 && x < 13 && y >= 8 && y < 11 && z >= 7 && z < 10;
    known[at] = in_hole ? 0 : 1;
    values[at] = in_hole ? std::nan("") : expected[at];
  }
  fill_missing(values, known, shape);
  double largest = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (known[i] != 0) CHECK(values[i] == expected[i]);
    largest = std::max(largest, std::abs(values[i] - expected[i]));
  }
  CHECK(largest < 1e-6);
}

TEST_CASE("missing: values of any size") {
  for (const double size : {1e-300, 1.0, 1e300}) {
    CAPTURE(size);
    std::vector<double> values{size, 2 * size, 0, 4 * size, 5 * size};
    fill_missing(values, Known{1, 1, 0, 1, 1}, {5, 1, 1});
    CHECK(values[2] / size == doctest::Approx(3));
  }
}

TEST_CASE("missing: without known samples all become 0; edges and empty holes are no problem") {
  std::vector<float> values{nan_value, nan_value, nan_value, nan_value};
  fill_missing(values, Known{0, 0, 0, 0}, {2, 2, 1});
  CHECK(values == std::vector<float>{0, 0, 0, 0});
  values = {5, nan_value, nan_value, nan_value};
  fill_missing(values, Known{1, 0, 0, 0}, {2, 2, 1});
  CHECK(values == std::vector<float>{5, 5, 5, 5});
  values = {1, 2, 3, 4};
  fill_missing(values, Known{1, 1, 1, 1}, {4, 1, 1});
  CHECK(values == std::vector<float>{1, 2, 3, 4});
  CHECK_THROWS_AS(fill_missing(values, Known{1, 1}, {4, 1, 1}), warpalign::Error);
}

TEST_CASE("fill_missing: holes in flat places, whose gradient is only rounding, are filled") {
  // Few grey levels at random: many holes of one sample already have their best value.
  constexpr std::int64_t n = 300;
  const Shape shape{n, n};
  std::vector<double> values;
  std::vector<std::uint8_t> known;
  std::uint32_t state = 1;
  for (std::int64_t y = 0; y < n; ++y) {
    for (std::int64_t x = 0; x < n; ++x) {
      state = state * 1664525U + 1013904223U;  // a linear congruential generator
      values.push_back((20 + static_cast<double>(state >> 30)) / 254.9);
      known.push_back((x * 7 + y * 13) % 29 == 0 ? 0 : 1);
    }
  }
  const std::vector<double> before = values;
  fill_missing(std::span<double>(values), known, shape);
  bool finite = true;
  bool kept = true;
  for (std::size_t i = 0; i < values.size(); ++i) {
    finite = finite && std::isfinite(values[i]);
    kept = kept && (known[i] == 0 || values[i] == before[i]);
  }
  CHECK(finite);
  CHECK(kept);
}

TEST_CASE("fill_missing: a hole is filled as if it were the only one") {
  // A polynomial of degree 3 plus waves, so that values of a wrong hole would show.
  constexpr std::int64_t n = 120;
  const Shape shape{n, n};
  std::vector<double> image;
  for (std::int64_t y = 0; y < n; ++y) {
    for (std::int64_t x = 0; x < n; ++x) {
      image.push_back(std::sin(0.3 * static_cast<double>(x)) *
                      std::cos(0.2 * static_cast<double>(y)));
    }
  }
  // Squares of 1 to 4 samples with 3 known samples between them, so that they do not interact.
  const auto hole_of = [](std::int64_t x, std::int64_t y) {
    const std::int64_t column = x / 7, row = y / 7, side = 1 + (column + row) % 4;
    return x % 7 < side && y % 7 < side ? row * 100 + column : -1;
  };
  const auto filled = [&](std::int64_t only) {
    std::vector<double> values = image;
    std::vector<std::uint8_t> known(image.size(), 1);
    for (std::int64_t i = 0; i < n * n; ++i) {
      const std::int64_t hole = hole_of(i % n, i / n);
      if (hole >= 0 && (only < 0 || hole == only)) known[static_cast<std::size_t>(i)] = 0;
    }
    fill_missing(std::span<double>(values), known, shape);
    return values;
  };
  const std::vector<double> together = filled(-1);
  for (const std::int64_t only : {0, 205, 811, 1603, 1616}) {
    CAPTURE(only);
    const std::vector<double> alone = filled(only);
    for (std::int64_t i = 0; i < n * n; ++i) {
      if (hole_of(i % n, i / n) != only) continue;
      CHECK(alone[static_cast<std::size_t>(i)] == together[static_cast<std::size_t>(i)]);
    }
  }
}
