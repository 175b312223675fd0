// `warpalign resample` of arrays with missing samples.
#include "program/arrays.hpp"
#include "program/picture.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

namespace warpalign::test {
namespace {

using namespace program;

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
constexpr std::int64_t height = 60, width = 70;

/// Waves from 30 to 130, no shorter than 19 pixels.
float wave(std::int64_t x, std::int64_t y) {
  const auto u = static_cast<float>(x), v = static_cast<float>(y);
  return 80 + 25 * std::sin(0.2F * u + 0.1F * v) + 25 * std::cos(0.3F * v - 0.13F * u);
}

bool in_hole(std::int64_t x, std::int64_t y) { return x >= 30 && x < 34 && y >= 20 && y < 23; }

template <typename Sample>
Array waves(PixelType type, Sample in_holes, bool with_hole) {
  Array array = make_array({height, width}, type);
  for (std::int64_t y = 0; y < height; ++y) {
    for (std::int64_t x = 0; x < width; ++x) {
      array.samples<Sample>()[static_cast<std::size_t>(y * width + x)] =
          with_hole && in_hole(x, y) ? in_holes : static_cast<Sample>(wave(x, y));
    }
  }
  return array;
}

struct Resampled {
  Array result, weights;
};

Resampled resampled(const Array& input, std::vector<std::string> options) {
  const ScratchFolder folder;
  save_npy(folder / "in.npy", input);
  std::vector<std::string> arguments{"resample", folder / "in.npy", folder / "out.npy", "--weights",
                                     folder / "weights.npy"};
  arguments.insert(arguments.end(), options.begin(), options.end());
  run_successfully(arguments);
  return {load_npy(folder / "out.npy"), load_npy(folder / "weights.npy")};
}

/// The distance of an output pixel, read at (x + 0.5, y + 0.25), from the hole.
double distance_from_hole(std::int64_t x, std::int64_t y) {
  const double u = static_cast<double>(x) + 0.5, v = static_cast<double>(y) + 0.25;
  return std::hypot(std::max({30 - u, 0.0, u - 33}), std::max({20 - v, 0.0, v - 22}));
}

const std::vector<std::string> shifted{"--matrix", "1,0,0.5,0,1,0.25"};

/// Compares with the result without the hole, and returns how many samples are missing.
template <typename Sample, typename IsMissing>
int check_result(const Resampled& holed, const Array& whole, double rounding,
                 IsMissing is_missing) {
  int missing = 0;
  double far = 0, near = 0;
  for (std::int64_t y = 0; y < height; ++y) {
    for (std::int64_t x = 0; x < width; ++x) {
      const auto i = static_cast<std::size_t>(y * width + x);
      const Sample value = holed.result.samples<Sample>()[i];
      CHECK(is_missing(value) == (holed.weights.samples<float>()[i] < 0.49999F));
      if (is_missing(value)) {
        ++missing;
        continue;
      }
      const double error =
          std::abs(static_cast<double>(value) - static_cast<double>(whole.samples<Sample>()[i]));
      const double distance = distance_from_hole(x, y);
      if (distance >= 8) near = std::max(near, error);
      if (distance >= 12) far = std::max(far, error);
    }
  }
  CHECK(near <= 100 * 5e-5 + rounding);  // the range is 100
  CHECK(far <= 100 * 1e-6 + rounding);
  return missing;
}

TEST_CASE("resample: a hole stays a hole, and spoils nothing else") {
  require_test_device();
  const Array whole = waves<float>(PixelType::f32, 0, false);
  const Array holed = waves<float>(PixelType::f32, not_a_number, true);
  const Array expected = resampled(whole, shifted).result;
  constexpr double single_precision = 130 * 1e-6;
  const int missing = check_result<float>(resampled(holed, shifted), expected, single_precision,
                                          [](float value) { return std::isnan(value); });
  CHECK(missing > 0);
  CHECK(missing <= 16);  // the hole has 12 pixels
}

TEST_CASE("resample: without missing samples the result does not change") {
  require_test_device();
  const Array whole = waves<float>(PixelType::f32, 0, false);
  for (const char* degree : {"0", "1", "3", "5"}) {
    std::vector<std::string> options = shifted;
    options.insert(options.end(), {"--degree", degree});
    const Resampled ignored = resampled(whole, options);
    const ScratchFolder folder;
    save_npy(folder / "in.npy", whole);
    options.insert(options.begin(), {"resample", folder / "in.npy", folder / "out.npy"});
    options.insert(options.end(), {"--missing", "spread"});
    run_successfully(options);
    CHECK(load_npy(folder / "out.npy").bytes == ignored.result.bytes);
    for (const float share : ignored.weights.samples<float>()) CHECK(share > 0.99999F);
  }
}

TEST_CASE("resample: nodata is written back") {
  require_test_device();
  std::vector<std::string> options = shifted;
  options.insert(options.end(), {"--nodata", "255"});
  const Array bytes = waves<std::uint8_t>(PixelType::u8, 255, true);
  const Array expected = resampled(waves<std::uint8_t>(PixelType::u8, 0, false), shifted).result;
  CHECK(check_result<std::uint8_t>(resampled(bytes, options), expected, 1,
                                   [](std::uint8_t value) { return value == 255; }) > 0);
  options.back() = "-9999";
  const Array numbers = waves<float>(PixelType::f32, -9999, true);
  const Array whole = resampled(waves<float>(PixelType::f32, 0, false), shifted).result;
  CHECK(check_result<float>(resampled(numbers, options), whole, 130 * 1e-6,
                            [](float value) { return value == -9999; }) > 0);
}

TEST_CASE("resample: values that saturate to the nodata value become the next integer") {
  require_test_device();
  Array step = make_array({20, 30}, PixelType::u8);
  for (std::size_t i = 0; i < 600; ++i) {
    step.samples<std::uint8_t>()[i] = i % 30 < 15 ? 128 : 254;  // the spline overshoots
  }
  const std::vector<std::string> half{"--matrix", "1,0,0.5,0,1,0"};
  const Array plain = resampled(step, half).result;
  std::vector<std::string> options = half;
  options.insert(options.end(), {"--nodata", "255"});
  const Array result = resampled(step, options).result;
  int saturated = 0;
  for (std::size_t i = 0; i < 600; ++i) {
    const std::uint8_t value = plain.samples<std::uint8_t>()[i];
    CHECK(result.samples<std::uint8_t>()[i] == (value == 255 ? 254 : value));
    saturated += value == 255 ? 1 : 0;
  }
  CHECK(saturated > 0);
}

TEST_CASE("resample: complex numbers and colours have holes of their own") {
  require_test_device();
  Array complex = make_array({40, 40}, PixelType::c32);
  for (std::size_t i = 0; i < 1600; ++i) {
    complex.samples<float>()[2 * i] = 2;
    complex.samples<float>()[2 * i + 1] = -3;
  }
  complex.samples<float>()[2 * (15 * 40 + 20) + 1] = not_a_number;
  complex.samples<float>()[2 * (15 * 40 + 21)] = not_a_number;
  const Array result = resampled(complex, {"--matrix", "1,0,0.5,0,1,0", "--degree", "1"}).result;
  const auto at = [&](std::size_t i) { return result.samples<float>()[i]; };
  CHECK(std::isnan(at(2 * (15 * 40 + 20))));
  CHECK(at(2 * (15 * 40 + 24)) == doctest::Approx(2));
  CHECK(at(2 * (15 * 40 + 24) + 1) == doctest::Approx(-3));
}

TEST_CASE("resample: wrong choices for missing samples are refused") {
  const ScratchFolder folder;
  save_npy(folder / "in.npy", waves<std::uint8_t>(PixelType::u8, 0, false));
  Array empty = make_array({8, 9}, PixelType::f32);
  for (float& value : empty.samples<float>()) value = not_a_number;
  save_npy(folder / "empty.npy", empty);
  const auto refused = [&](const char* input, std::vector<std::string> options,
                           const std::vector<std::string>& named) {
    options.insert(options.begin(),
                   {"resample", folder / input, folder / "out.npy", "--zoom", "2"});
    check_refused(run_program(options), 2, named);
  };
  refused("in.npy", {"--missing", "drop"}, {"--missing", "drop", "ignore, spread"});
  refused("in.npy", {"--nodata", "300"}, {"--nodata 300", "u8"});
  refused("in.npy", {"--nodata", "0.5"}, {"--nodata 0.5", "u8"});
  refused("in.npy", {"--nodata", "nan"}, {"--nodata nan", "u8"});
  refused("in.npy", {"--nodata", "1", "--missing", "spread"}, {"--nodata", "--missing ignore"});
  refused("in.npy", {"--weights", folder / "w.npy", "--missing", "spread"}, {"--weights"});
  refused("in.npy", {"--weights", folder / "out.npy"}, {"--weights", "same file"});
  refused("empty.npy", {}, {"empty.npy", "all samples are missing"});
}

}  // namespace
}  // namespace warpalign::test
