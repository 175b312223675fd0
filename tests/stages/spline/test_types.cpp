// Splines of pixels of every type, compared with results from floats, on every device.
#include "reference/filter/convert.hpp"
#include "support/devices.hpp"
#include "support/random_images.hpp"

#include <warpalign/error.hpp>
#include <warpalign/stages/resample.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace {

using warpalign::Device;
using warpalign::PixelType;
using warpalign::PrefilterMethod;
using warpalign::ResamplePlan;
using warpalign::ResampleSpec;
using warpalign::Shape;

constexpr Shape input_shape{37, 29, 1};
constexpr Shape output_shape{31, 40, 1};
constexpr warpalign::Affine matrix{0.95, 0.11, -1.3, -0.08, 1.04, 0.7};

template <class To, class From>
std::vector<To> resampled(const Device& device, ResampleSpec spec,
                          const std::vector<From>& pixels) {
  auto stream = device.make_stream();
  auto input = device.make_image(spec.input, spec.images.shape);
  auto output = device.make_image(spec.output_type, spec.output);
  stream.upload(pixels.data(), pixels.size() * sizeof(From), input.buffer());
  ResamplePlan plan(device, spec);
  plan.execute(stream, input, warpalign::HomogeneousMatrix(matrix), output);
  std::vector<To> result(static_cast<std::size_t>(spec.output.pixels()));
  stream.download(output, result.data(), result.size() * sizeof(To));
  return result;
}

/// Integers that a cubic spline overshoots: neighbours with the lowest and the highest value.
template <class T>
std::vector<T> samples(double lowest, double highest) {
  const auto plane = test::random_plane(input_shape.width, input_shape.height, lowest, highest, 91);
  std::vector<T> values;
  for (const double value : plane.values) values.push_back(reference::converted<T>(value));
  return values;
}

template <class T>
void compare(const Device& device, PixelType type, double lowest, double highest) {
  CAPTURE(warpalign::name_of(type));
  const std::vector<T> pixels = samples<T>(lowest, highest);
  const std::vector<float> floats(pixels.begin(), pixels.end());
  for (const int degree : {0, 1, 3}) {
    CAPTURE(degree);
    ResampleSpec spec{.images = {.shape = input_shape}, .output = output_shape};
    spec.spline.degree = degree;
    if (degree < 2) spec.spline.prefilter = std::nullopt;
    const auto expected = resampled<float>(device, spec, floats);
    spec.input = spec.output_type = type;
    const auto found = resampled<T>(device, spec, pixels);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
      // The same kernels run between the conversions, so the results are identical.
      wrong += found[i] == reference::converted<T>(static_cast<double>(expected[i])) ? 0U : 1U;
    }
    CHECK(wrong == 0);
  }
}

}  // namespace

TEST_CASE("resample: pixels of types that kernels cannot load are converted") {
  test::on_every_device([](const Device& device) {
    compare<std::int8_t>(device, PixelType::i8, -128, 127);
    compare<std::int16_t>(device, PixelType::i16, -32768, 32767);
    compare<std::uint32_t>(device, PixelType::u32, 0, 4e9);
    compare<std::int32_t>(device, PixelType::i32, -2e9, 2e9);
    compare<double>(device, PixelType::f64, -1, 1);
  });
}

TEST_CASE("resample: u8 and u16 pixels without a prefilter") {
  test::on_every_device([](const Device& device) {
    const auto pixels = samples<std::uint8_t>(0, 255);
    const std::vector<float> floats(pixels.begin(), pixels.end());
    ResampleSpec spec{.images = {.shape = input_shape}, .output = output_shape};
    spec.spline.degree = 1;
    spec.spline.prefilter = std::nullopt;
    const auto expected = resampled<float>(device, spec, floats);
    spec.input = PixelType::u8;
    CHECK(resampled<float>(device, spec, pixels) == expected);
  });
}

TEST_CASE("resample: complex and real pixels do not mix") {
  test::on_every_device([](const Device& device) {
    ResampleSpec spec{.images = {.shape = input_shape}, .output = output_shape};
    spec.input = PixelType::c32;
    spec.output_type = PixelType::i16;
    CHECK_THROWS_AS(ResamplePlan(device, spec), warpalign::Error);
    spec.input = PixelType::i16;
    spec.output_type = PixelType::c32;
    CHECK_THROWS_AS(ResamplePlan(device, spec), warpalign::Error);
  });
}
