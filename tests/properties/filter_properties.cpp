// Sobel gradients and conversions against the oracle.
#include "properties/trial.hpp"
#include "reference/filter/convert.hpp"
#include "reference/filter/sobel.hpp"
#include "support/compare.hpp"
#include "support/random_images.hpp"
#include "support/transfer.hpp"

#include <warpalign/stages/convert.hpp>
#include <warpalign/stages/sobel.hpp>

#include <cmath>
#include <cstring>
#include <limits>

namespace properties {

namespace {

using namespace warpalign;

test::Size some_size(Random& random) {
  static const std::vector<test::Size> sizes{{1, 1},   {1, 9},   {5, 3},   {31, 18},
                                             {64, 48}, {61, 43}, {129, 65}};
  return random.one_of(sizes);
}

void check_sobel(Trial& trial) {
  Random& random = trial.random;
  const test::Size size = some_size(random);
  const auto type = random.one_of<PixelType>({PixelType::u8, PixelType::u16, PixelType::f32});
  const auto method = random.one_of<SobelMethod>({SobelMethod::packed, SobelMethod::plain});
  trial.describe(test::to_string(size), ", ", name_of(type), ", method ", static_cast<int>(method));
  const auto image =
      type == PixelType::f32
          ? test::random_plane(size.width, size.height, -1, 1, random.seed())
          : test::random_integers(size.width, size.height, type == PixelType::u8 ? 255 : 65535,
                                  random.seed());
  // As in tests/stages/filter/test_sobel.cpp: 2 ulp of the largest magnitude of integers; of
  // floats, six additions of values up to 8.
  const double allowed = type == PixelType::f32  ? 6e-6
                         : type == PixelType::u8 ? 2.5e-4
                                                 : 2.5e-4 * 257;
  const auto expected = reference::sobel(image);
  trial.on_every_device([&](const Device& device) {
    Stream stream = device.make_stream();
    const Image input = test::to_device(device, stream, image, type);
    Image output = device.make_image(PixelType::f32, input.shape());
    test::poison(stream, output);
    SobelPlan(device, {type, input.shape(), method}).execute(stream, input, output);
    return test::max_difference(test::from_device(stream, output), expected) / allowed;
  });
}

/// Any bits, numbers around the limits of types, halves, and what is not finite.
std::vector<float> some_floats(Random& random, std::size_t count) {
  std::vector<float> values(count);
  for (float& value : values) {
    const auto bits = random.seed();
    switch (random.integer(0, 3)) {
      case 0:
        std::memcpy(&value, &bits, sizeof value);
        break;
      case 1:
        value = static_cast<float>(random.integer(-70000, 70000)) / 2;
        break;
      case 2:
        value = static_cast<float>(std::ldexp(1.0, static_cast<int>(random.integer(0, 34))) +
                                   random.real(-1, 1));
        break;
      default:
        value = static_cast<float>(random.real(-300, 300));
    }
    // Devices may take numbers too small to be normal for 0; as integers they are.
    if (std::fpclassify(value) == FP_SUBNORMAL) value = 0;
  }
  return values;
}

template <class To>
void check_conversion_to(Trial& trial, PixelType type, const std::vector<float>& values) {
  const Shape shape{static_cast<std::int64_t>(values.size()), 1, 1};
  trial.on_every_device([&](const Device& device) {
    Stream stream = device.make_stream();
    Image input = device.make_image(PixelType::f32, shape);
    Image output = device.make_image(type, shape);
    stream.upload(values.data(), values.size() * sizeof(float), input.buffer());
    ConvertPlan(device, {shape, PixelType::f32, type}).execute(stream, input, output);
    std::vector<To> found(values.size());
    stream.download(output, found.data(), found.size() * sizeof(To));
    double wrong = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const To expected = reference::converted<To>(static_cast<double>(values[i]));
      const bool both_nan = expected != expected && found[i] != found[i];
      if (found[i] != expected && !both_nan) wrong += 2;
    }
    return wrong;
  });
}

void check_conversion(Trial& trial) {
  const auto values = some_floats(trial.random, 257);
  const auto type =
      trial.random.one_of<PixelType>({PixelType::u8, PixelType::i8, PixelType::u16, PixelType::i16,
                                      PixelType::u32, PixelType::i32, PixelType::f64});
  trial.describe("f32 to ", name_of(type));
  switch (type) {
    case PixelType::u8:
      return check_conversion_to<std::uint8_t>(trial, type, values);
    case PixelType::i8:
      return check_conversion_to<std::int8_t>(trial, type, values);
    case PixelType::u16:
      return check_conversion_to<std::uint16_t>(trial, type, values);
    case PixelType::i16:
      return check_conversion_to<std::int16_t>(trial, type, values);
    case PixelType::u32:
      return check_conversion_to<std::uint32_t>(trial, type, values);
    case PixelType::i32:
      return check_conversion_to<std::int32_t>(trial, type, values);
    default:
      return check_conversion_to<double>(trial, type, values);
  }
}

}  // namespace

std::vector<Property> filter_properties() {
  return {{"sobel", "as the oracle has it", &check_sobel},
          {"convert", "as the oracle has it", &check_conversion}};
}

}  // namespace properties
