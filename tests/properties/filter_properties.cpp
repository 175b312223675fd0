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
#include <type_traits>
#include <vector>

namespace properties {

namespace {

using namespace warpalign;

constexpr double infinity = std::numeric_limits<double>::infinity();

test::Size some_size(Random& random) {
  static const std::vector<test::Size> sizes{{1, 1},   {1, 9},   {5, 3},   {31, 18},
                                             {64, 48}, {61, 43}, {129, 65}};
  return random.one_of(sizes);
}

/// The largest difference. A value must be non-finite in both or in none.
double gradient_difference(const reference::Plane& found, const reference::Plane& expected) {
  if (found.values.size() != expected.values.size()) return 1e9;
  test::WorstError worst;
  for (std::size_t i = 0; i < found.values.size(); ++i) {
    const bool neither = !std::isfinite(found.values[i]) && !std::isfinite(expected.values[i]);
    worst.add(neither ? 0 : std::abs(found.values[i] - expected.values[i]));
  }
  return worst.value();
}

void check_sobel(Trial& trial) {
  Random& random = trial.random;
  const test::Size size = some_size(random);
  const auto type = random.one_of<PixelType>({PixelType::u8, PixelType::u16, PixelType::f32});
  const auto method = random.one_of<SobelMethod>({SobelMethod::packed, SobelMethod::plain});
  trial.describe(test::to_string(size), ", ", name_of(type), ", method ", static_cast<int>(method));
  auto image = type == PixelType::f32
                   ? test::random_plane(size.width, size.height, -1, 1, random.seed())
                   : test::random_integers(size.width, size.height,
                                           type == PixelType::u8 ? 255 : 65535, random.seed());
  for (auto left = type == PixelType::f32 ? random.integer(0, 3) : 0; left > 0; --left) {
    image.at(random.integer(0, size.width - 1), random.integer(0, size.height - 1)) =
        random.one_of<double>({std::nan(""), infinity, -infinity});
  }
  // As in tests/stages/filter/test_sobel.cpp: 2 ulp of the largest magnitude for integers, and for
  // floats six additions of values up to 8.
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
    return gradient_difference(test::from_device(stream, output), expected) / allowed;
  });
}

/// Random bits, numbers around the limits of types, halves, and non-finite values.
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
    // Devices may flush subnormal numbers to 0. Converted to integers they are 0 anyway.
    if (std::fpclassify(value) == FP_SUBNORMAL) value = 0;
  }
  return values;
}

/// Calls use(T{}) for the pixels' type T.
template <class Use>
void with_type(PixelType type, const Use& use) {
  switch (type) {
    case PixelType::u8:
      return use(std::uint8_t{});
    case PixelType::i8:
      return use(std::int8_t{});
    case PixelType::u16:
      return use(std::uint16_t{});
    case PixelType::i16:
      return use(std::int16_t{});
    case PixelType::u32:
      return use(std::uint32_t{});
    case PixelType::i32:
      return use(std::int32_t{});
    case PixelType::f64:
      return use(double{});
    default:
      return use(float{});
  }
}

PixelType some_type(Random& random) {
  return random.one_of<PixelType>({PixelType::u8, PixelType::i8, PixelType::u16, PixelType::i16,
                                   PixelType::u32, PixelType::i32, PixelType::f32, PixelType::f64});
}

/// Random integers of a type, many of them near its limits; or floats, and for double also numbers
/// between floats.
template <class From>
std::vector<From> some_pixels(Random& random, std::size_t count) {
  std::vector<From> pixels;
  if constexpr (std::is_integral_v<From>) {
    while (pixels.size() < count) {
      const auto from_end = static_cast<From>(random.integer(0, 3));
      pixels.push_back(random.one_of<From>(
          {static_cast<From>(random.seed()), static_cast<From>(random.integer(-3, 3)),
           static_cast<From>(std::numeric_limits<From>::max() - from_end),
           static_cast<From>(std::numeric_limits<From>::min() + from_end)}));
    }
  } else {
    const auto floats = some_floats(random, count);
    pixels.assign(floats.begin(), floats.end());
    if constexpr (std::is_same_v<From, double>) {
      for (double& pixel : pixels) pixel *= 1 + random.real(-1e-7, 1e-7);
    }
  }
  return pixels;
}

template <class To, class From>
void check_conversion_between(Trial& trial, PixelType from, PixelType to) {
  const auto pixels = some_pixels<From>(trial.random, 257);
  const Shape shape{static_cast<std::int64_t>(pixels.size()), 1, 1};
  trial.on_every_device([&](const Device& device) {
    Stream stream = device.make_stream();
    Image input = device.make_image(from, shape);
    Image output = device.make_image(to, shape);
    stream.upload(pixels.data(), pixels.size() * sizeof(From), input.buffer());
    test::poison(stream, output);
    ConvertPlan(device, {shape, from, to}).execute(stream, input, output);
    std::vector<To> found(pixels.size());
    stream.download(output, found.data(), found.size() * sizeof(To));
    double wrong = 0;
    for (std::size_t i = 0; i < pixels.size(); ++i) {
      // Converted through single precision, as documented.
      const To expected =
          reference::converted<To>(static_cast<double>(static_cast<float>(pixels[i])));
      const bool both_nan = expected != expected && found[i] != found[i];
      if (found[i] != expected && !both_nan) wrong += 2;
    }
    return wrong;
  });
}

void check_conversion(Trial& trial) {
  const PixelType from = some_type(trial.random), to = some_type(trial.random);
  trial.describe(name_of(from), " to ", name_of(to));
  with_type(from, [&](auto of_input) {
    with_type(to, [&](auto of_output) {
      check_conversion_between<decltype(of_output), decltype(of_input)>(trial, from, to);
    });
  });
}

}  // namespace

std::vector<Property> filter_properties() {
  return {{"sobel", "as the oracle has it", &check_sobel},
          {"convert", "as the oracle has it", &check_conversion}};
}

}  // namespace properties
