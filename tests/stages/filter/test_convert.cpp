// Conversions between pixel types against the oracle, on every device.
#include "reference/filter/convert.hpp"
#include "support/devices.hpp"

#include <warpalign/error.hpp>
#include <warpalign/stages/convert.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace {

using warpalign::Device;
using warpalign::PixelType;
using warpalign::Shape;

template <class T>
struct Type;
template <>
struct Type<std::uint8_t> {
  static constexpr PixelType value = PixelType::u8;
};
template <>
struct Type<std::int8_t> {
  static constexpr PixelType value = PixelType::i8;
};
template <>
struct Type<std::uint16_t> {
  static constexpr PixelType value = PixelType::u16;
};
template <>
struct Type<std::int16_t> {
  static constexpr PixelType value = PixelType::i16;
};
template <>
struct Type<std::uint32_t> {
  static constexpr PixelType value = PixelType::u32;
};
template <>
struct Type<std::int32_t> {
  static constexpr PixelType value = PixelType::i32;
};
template <>
struct Type<float> {
  static constexpr PixelType value = PixelType::f32;
};
template <>
struct Type<double> {
  static constexpr PixelType value = PixelType::f64;
};

/// Converts one row of pixels on the device. Pixels that are not written stay 99.
template <class To, class From>
std::vector<To> convert(const Device& device, const std::vector<From>& pixels) {
  const Shape shape{static_cast<std::int64_t>(pixels.size()), 1, 1};
  auto stream = device.make_stream();
  auto input = device.make_image(Type<From>::value, shape);
  auto output = device.make_image(Type<To>::value, shape);
  std::vector<To> result(pixels.size(), To(99));
  stream.upload(pixels.data(), pixels.size() * sizeof(From), input.buffer());
  stream.upload(result.data(), result.size() * sizeof(To), output.buffer());
  warpalign::ConvertPlan(device, {shape, Type<From>::value, Type<To>::value})
      .execute(stream, input, output);
  stream.download(output, result.data(), result.size() * sizeof(To));
  return result;
}

/// Bitwise equality, except that NaN equals NaN.
template <class T>
bool same(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
  } else {
    return a == b;
  }
}

template <class To, class From>
void compare(const Device& device, const std::vector<From>& pixels) {
  const std::vector<To> found = convert<To>(device, pixels);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    // Converted through single precision, as documented.
    const To expected =
        reference::converted<To>(static_cast<double>(static_cast<float>(pixels[i])));
    if (same(found[i], expected)) continue;
    if (++wrong > 3) continue;
    CAPTURE(pixels[i]);
    CAPTURE(sizeof(To));
    CHECK(static_cast<double>(found[i]) == static_cast<double>(expected));
  }
  CHECK(wrong == 0);
}

template <class From>
std::vector<From> integers() {
  std::mt19937 random(5);
  std::vector<From> values{0, 1, std::numeric_limits<From>::min(), std::numeric_limits<From>::max(),
                           std::numeric_limits<From>::max() - 1};
  while (values.size() < 1203) values.push_back(static_cast<From>(random()));
  return values;
}

// Values around every rounding boundary and every limit of the integer types.
std::vector<float> floats() {
  const float inf = std::numeric_limits<float>::infinity();
  std::vector<float> values{0.0F, -0.0F, inf, -inf, std::nanf(""), 1e-40F, 3e38F, 0.49999997F};
  for (const float limit : {0.0F, 127.0F, 128.0F, 255.0F, 32767.0F, 65535.0F, 0x1p31F, 0x1p32F}) {
    for (const float offset : {-1.0F, -0.5F, -0.25F, 0.25F, 0.5F, 0.75F, 1.0F}) {
      values.push_back(limit + offset);
      values.push_back(-limit + offset);
    }
    values.push_back(std::nextafter(limit, 0.0F));
    values.push_back(-std::nextafter(limit, inf));
  }
  std::mt19937 random(6);
  std::uniform_real_distribution<float> uniform(-300, 300);
  while (values.size() < 1203) values.push_back(uniform(random));
  return values;
}

// Halves between two floats, subnormal floats, and values beyond the range of floats.
std::vector<double> doubles() {
  std::vector<double> values{0.0,
                             -0.0,
                             1 + 0x1p-24,
                             1 + 0x3p-24,
                             1 + 0x1p-24 + 0x1p-50,
                             0x1p-126,
                             0x1p-149,
                             0x1p-150,
                             0x1.8p-150,
                             0x1.8p-149,
                             0x1p-151,
                             1e-320,
                             3.5e38,
                             -1e300,
                             0x1.fffffefp127,
                             std::nan(""),
                             std::numeric_limits<double>::infinity()};
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::uniform_int_distribution<int> exponent(-155, 130);
  while (values.size() < 2003) values.push_back(std::ldexp(uniform(random), exponent(random)));
  return values;
}

template <class From>
void to_every_type(const Device& device, const std::vector<From>& pixels) {
  compare<std::uint8_t>(device, pixels);
  compare<std::int8_t>(device, pixels);
  compare<std::uint16_t>(device, pixels);
  compare<std::int16_t>(device, pixels);
  compare<std::uint32_t>(device, pixels);
  compare<std::int32_t>(device, pixels);
  compare<float>(device, pixels);
  compare<double>(device, pixels);
}

}  // namespace

TEST_CASE("convert: integers of every type, bit by bit") {
  test::on_every_device([](const Device& device) {
    to_every_type(device, integers<std::uint8_t>());
    to_every_type(device, integers<std::int8_t>());
    to_every_type(device, integers<std::uint16_t>());
    to_every_type(device, integers<std::int16_t>());
    to_every_type(device, integers<std::uint32_t>());
    to_every_type(device, integers<std::int32_t>());
  });
}

TEST_CASE("convert: floats and doubles, halves, limits, subnormal numbers and NaN") {
  test::on_every_device([](const Device& device) {
    to_every_type(device, floats());
    to_every_type(device, doubles());
  });
}

TEST_CASE("convert: half precision there and back") {
  test::on_every_device([](const Device& device) {
    const std::vector<float> pixels{0.0F, 1.5F, -2.25F, 65504.0F, 0x1p-24F, 1e6F, 0x1.004p0F};
    const std::vector<float> expected{
        0.0F, 1.5F, -2.25F, 65504.0F, 0x1p-24F, std::numeric_limits<float>::infinity(), 0x1.004p0F};
    const Shape shape{static_cast<std::int64_t>(pixels.size()), 1, 1};
    auto stream = device.make_stream();
    auto input = device.make_image(PixelType::f32, shape);
    auto halves = device.make_image(PixelType::f16, shape);
    auto output = device.make_image(PixelType::f32, shape);
    stream.upload(pixels.data(), pixels.size() * sizeof(float), input.buffer());
    warpalign::ConvertPlan(device, {shape, PixelType::f32, PixelType::f16})
        .execute(stream, input, halves);
    warpalign::ConvertPlan(device, {shape, PixelType::f16, PixelType::f32})
        .execute(stream, halves, output);
    std::vector<float> found(pixels.size());
    stream.download(output, found.data(), found.size() * sizeof(float));
    CHECK(found == expected);
  });
}

TEST_CASE("convert: complex pixels and empty images are refused before anything runs") {
  test::on_every_device([](const Device& device) {
    using warpalign::ConvertPlan;
    CHECK_THROWS_AS(ConvertPlan(device, {{8, 8, 1}, PixelType::c32, PixelType::f32}),
                    warpalign::Error);
    CHECK_THROWS_AS(ConvertPlan(device, {{8, 8, 1}, PixelType::f32, PixelType::c32}),
                    warpalign::Error);
    CHECK_THROWS_AS(ConvertPlan(device, {{0, 8, 1}, PixelType::u8, PixelType::f32}),
                    warpalign::Error);
  });
}
