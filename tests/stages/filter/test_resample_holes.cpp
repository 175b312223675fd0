// Images with holes that are resampled on a device, beside the same steps on the host.
#include "missing/resample_holes.hpp"
#include "support/devices.hpp"

#include <warpalign/missing.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

namespace {

using warpalign::Boundary;
using warpalign::Device;
using warpalign::HomogeneousMatrix;
using warpalign::PixelType;
using warpalign::ResampleSpec;
using warpalign::Shape;

const HomogeneousMatrix turned(warpalign::Affine{0.94, -0.34, 9.3, 0.34, 0.94, -6.2});

/// What the steps on the host give: the filled image, resampled, with missing results where too
/// little is known.
std::vector<float> expected_of(const Device& device, const ResampleSpec& spec,
                               std::vector<float> values, const std::vector<std::uint8_t>& known,
                               float missing, std::vector<float>& weights) {
  warpalign::fill_missing(values, known, spec.images.shape);
  warpalign::Stream stream = device.make_stream();
  const auto resampled = [&](const ResampleSpec& of, const void* from, std::size_t bytes) {
    warpalign::Image image = device.make_image(of.input, of.images.shape);
    warpalign::Image result = device.make_image(PixelType::f32, of.output);
    stream.upload(from, bytes, image.buffer());
    warpalign::ResamplePlan(device, of).execute(stream, image, turned, result);
    std::vector<float> all(static_cast<std::size_t>(of.output.pixels()));
    stream.download(result, all.data(), result.size_bytes());
    return all;
  };
  ResampleSpec of_floats = spec;
  of_floats.input = of_floats.output_type = PixelType::f32;
  std::vector<float> results = resampled(of_floats, values.data(), values.size() * sizeof(float));
  ResampleSpec of_mask = of_floats;
  of_mask.input = PixelType::u8;
  of_mask.spline.prefilter.reset();
  of_mask.spline.cval = spec.spline.boundary == Boundary::constant ? 5 : 1;
  weights = resampled(of_mask, known.data(), known.size());
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (weights[i] > 4) {
      weights[i] = 0;
    } else if (static_cast<double>(weights[i]) < warpalign::min_known_share - 1e-5) {
      results[i] = missing;
    }
  }
  return results;
}

}  // namespace

TEST_CASE("resample_holes: as the steps on the host") {
  const Shape shape{70, 50, 1};
  std::vector<float> values(static_cast<std::size_t>(shape.pixels()));
  std::vector<std::uint8_t> bytes(values.size());
  std::vector<std::uint8_t> known(values.size(), 1);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t x = i % 70, y = i / 70;
    const double wave =
        std::sin(0.4 * static_cast<double>(x)) * std::cos(0.3 * static_cast<double>(y));
    bytes[i] = static_cast<std::uint8_t>(std::lround(101 + 100 * wave));
    values[i] = bytes[i];
    const bool in_hole = (x > 20 && x < 25 && y > 10 && y < 14) || (x * 7 + y * 11) % 41 == 0;
    if (!in_hole) continue;
    known[i] = 0;
    values[i] = std::numeric_limits<float>::quiet_NaN();
    bytes[i] = 0;
  }
  test::on_every_device([&](const Device& device) {
    for (const Boundary boundary : {Boundary::constant, Boundary::mirror}) {
      CAPTURE(static_cast<int>(boundary));
      ResampleSpec spec{.images = {.shape = shape}, .output = {66, 58, 1}};
      spec.spline.boundary = boundary;
      spec.spline.cval = 33;
      const auto n = static_cast<std::size_t>(spec.output.pixels());
      std::vector<float> found(n), weights(n), expected_weights;
      const std::vector<float> expected =
          expected_of(device, spec, values, known, std::nanf(""), expected_weights);
      warpalign::detail::resample_holes(device, spec, values.data(), known, turned, std::nullopt,
                                        found.data(), weights);
      float largest = 0;
      for (std::size_t i = 0; i < n; ++i) {
        REQUIRE(std::isnan(found[i]) == std::isnan(expected[i]));
        CHECK(weights[i] == doctest::Approx(expected_weights[i]).epsilon(1e-5));
        if (!std::isnan(found[i])) largest = std::max(largest, std::abs(found[i] - expected[i]));
      }
      // The device's fill stops when about 1e-3 of the first change remains, which is up to 100.
      CHECK(largest < 0.2F);

      spec.input = spec.output_type = PixelType::u8;
      std::vector<std::uint8_t> rounded(n);
      warpalign::detail::resample_holes(device, spec, bytes.data(), known, turned, 0.0,
                                        rounded.data(), {});
      for (std::size_t i = 0; i < n; ++i) {
        if (std::isnan(expected[i])) {
          REQUIRE(rounded[i] == 0);
        } else {
          // Known results are never 0; half a step of rounding, and the fills' difference.
          REQUIRE(rounded[i] > 0);
          CHECK(std::abs(static_cast<float>(rounded[i]) - std::max(expected[i], 1.0F)) <= 0.7F);
        }
      }
    }
  });
}
