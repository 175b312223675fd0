// Volumes of test data, on the oracle's side and on devices.
#include "support/volumes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace test {

namespace {

using warpalign::Boundary;
using warpalign::PixelType;
using warpalign::Shape;

double as_float(double value) { return static_cast<double>(static_cast<float>(value)); }
double unit(std::mt19937& engine) { return static_cast<double>(engine()) / 4294967296.0; }

template <class Pixel, class Value, class Convert>
warpalign::Image upload(const warpalign::Device& device, warpalign::Stream& stream, PixelType type,
                        const reference::VolumeOf<Value>& volume, Convert&& convert) {
  std::vector<Pixel> pixels;
  pixels.reserve(volume.values.size());
  for (const Value& value : volume.values) pixels.push_back(convert(value));
  auto image = device.make_image(type, shape_of(volume));
  stream.upload(pixels.data(), pixels.size() * sizeof(Pixel), image.buffer());
  return image;
}

template <class Pixel>
std::vector<Pixel> download(warpalign::Stream& stream, const warpalign::Image& image) {
  std::vector<Pixel> pixels(static_cast<std::size_t>(image.shape().pixels()));
  stream.download(image, pixels.data(), pixels.size() * sizeof(Pixel));
  return pixels;
}

}  // namespace

reference::Volume random_volume(const Shape& shape, double low, double high, std::uint32_t seed) {
  std::mt19937 engine(seed);
  reference::Volume volume(shape.width, shape.height, shape.depth);
  for (double& value : volume.values) value = as_float(low + (high - low) * unit(engine));
  return volume;
}

reference::ComplexVolume random_complex_volume(const Shape& shape, std::uint32_t seed) {
  std::mt19937 engine(seed);
  reference::ComplexVolume volume(shape.width, shape.height, shape.depth);
  for (auto& value : volume.values) {
    const double re = as_float(2 * unit(engine) - 1);
    value = {re, as_float(2 * unit(engine) - 1)};
  }
  return volume;
}

reference::Volume random_samples(const Shape& shape, PixelType type, std::uint32_t seed) {
  if (type == PixelType::f32) return random_volume(shape, -1, 1, seed);
  if (type == PixelType::f16) {
    auto volume = random_volume(shape, -1000, 1000, seed);
    for (double& value : volume.values) value = from_half(to_half(value));
    return volume;
  }
  const double count = type == PixelType::u8 ? 256 : 65536;
  auto volume = random_volume(shape, 0, count, seed);
  // The largest float below `count` may have been rounded up to `count`.
  for (double& value : volume.values) value = std::min(std::floor(value), count - 1);
  return volume;
}

reference::Volume with_marks(reference::Volume volume, double part, std::uint32_t seed) {
  std::mt19937 engine(seed);
  constexpr double mark = std::numeric_limits<double>::quiet_NaN();
  for (double& value : volume.values) {
    if (unit(engine) < part) value = mark;
  }
  const auto sides = volume.extents();
  reference::for_each_voxel(
      {sides[0] / 3, sides[1] / 3, sides[2] / 3},
      [&](std::int64_t x, std::int64_t y, std::int64_t z) { volume.at(x, y, z) = mark; });
  return volume;
}

std::uint16_t to_half(double value) {
  const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
  const double size = std::abs(value);
  if (std::isnan(value)) return 0x7E00;
  if (size >= 65520) return static_cast<std::uint16_t>(sign | 0x7C00);
  const int exponent = size < 0x1p-14 ? -14 : std::ilogb(size);
  const auto steps = static_cast<int>(std::nearbyint(std::ldexp(size, 10 - exponent)));
  // For normal numbers `steps` includes the hidden bit, which adds 1 to the exponent below.
  return static_cast<std::uint16_t>(sign | (((exponent + 14) << 10) + steps));
}

double from_half(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const int fraction = bits & 1023;
  double size = 0;
  if (exponent == 31) {
    size = fraction != 0 ? std::numeric_limits<double>::quiet_NaN()
                         : std::numeric_limits<double>::infinity();
  } else {
    size = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  }
  return (bits & 0x8000) != 0 ? -size : size;
}

warpalign::Image to_device(const warpalign::Device& device, warpalign::Stream& stream,
                           const reference::Volume& volume, PixelType type) {
  switch (type) {
    case PixelType::u8:
      return upload<std::uint8_t>(device, stream, type, volume,
                                  [](double v) { return static_cast<std::uint8_t>(v); });
    case PixelType::u16:
      return upload<std::uint16_t>(device, stream, type, volume,
                                   [](double v) { return static_cast<std::uint16_t>(v); });
    case PixelType::f16:
      return upload<std::uint16_t>(device, stream, type, volume, to_half);
    case PixelType::i32:
      return upload<std::int32_t>(device, stream, type, volume,
                                  [](double v) { return static_cast<std::int32_t>(v); });
    case PixelType::f64:
      return upload<double>(device, stream, type, volume, [](double v) { return v; });
    default:
      return upload<float>(device, stream, PixelType::f32, volume,
                           [](double v) { return static_cast<float>(v); });
  }
}

warpalign::Image to_device(const warpalign::Device& device, warpalign::Stream& stream,
                           const reference::ComplexVolume& volume) {
  return upload<std::complex<float>>(
      device, stream, PixelType::c32, volume,
      [](const std::complex<double>& v) { return std::complex<float>(v); });
}

reference::Volume volume_from_device(warpalign::Stream& stream, const warpalign::Image& image) {
  const Shape& shape = image.shape();
  reference::Volume volume(shape.width, shape.height, shape.depth);
  const auto take = [&](const auto& pixels, auto&& convert) {
    for (std::size_t i = 0; i < pixels.size(); ++i) volume.values[i] = convert(pixels[i]);
  };
  const auto widen = [](auto pixel) { return static_cast<double>(pixel); };
  switch (image.type()) {
    case PixelType::u8:
      take(download<std::uint8_t>(stream, image), widen);
      break;
    case PixelType::u16:
      take(download<std::uint16_t>(stream, image), widen);
      break;
    case PixelType::f16:
      take(download<std::uint16_t>(stream, image), from_half);
      break;
    case PixelType::i32:
      take(download<std::int32_t>(stream, image), widen);
      break;
    case PixelType::f64:
      take(download<double>(stream, image), widen);
      break;
    default:
      take(download<float>(stream, image), widen);
      break;
  }
  return volume;
}

reference::ComplexVolume complex_volume_from_device(warpalign::Stream& stream,
                                                    const warpalign::Image& image) {
  const Shape& shape = image.shape();
  reference::ComplexVolume volume(shape.width, shape.height, shape.depth);
  const auto pixels = download<std::complex<float>>(stream, image);
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    volume.values[i] = std::complex<double>(pixels[i]);
  }
  return volume;
}

reference::Volume as_floats(reference::Volume volume) {
  for (double& value : volume.values) value = as_float(value);
  return volume;
}

reference::ComplexVolume as_floats(reference::ComplexVolume volume) {
  for (auto& value : volume.values) value = {as_float(value.real()), as_float(value.imag())};
  return volume;
}

std::vector<warpalign::Shape> every_extent(int dimensions) {
  std::vector<warpalign::Shape> shapes;
  for (std::int64_t n = 1; n <= most; ++n) {
    // 7 and 33 have no common factor, so 7 n takes every value modulo 33.
    shapes.push_back({n, dimensions < 2 ? 1 : most + 1 - n, dimensions < 3 ? 1 : 7 * n % most + 1});
  }
  return shapes;
}

const std::vector<Boundary>& boundaries() {
  static const std::vector<Boundary> all{
      Boundary::mirror,        Boundary::reflect, Boundary::nearest,  Boundary::constant,
      Boundary::grid_constant, Boundary::wrap,    Boundary::grid_wrap};
  return all;
}

reference::Edge edge_of(Boundary boundary) {
  using reference::Edge;
  switch (boundary) {
    case Boundary::mirror:
      return Edge::mirror;
    case Boundary::reflect:
      return Edge::reflect;
    case Boundary::nearest:
      return Edge::nearest;
    case Boundary::constant:
      return Edge::constant;
    case Boundary::grid_constant:
      return Edge::grid_constant;
    case Boundary::wrap:
      return Edge::wrap;
    case Boundary::grid_wrap:
      return Edge::grid_wrap;
  }
  return Edge::mirror;
}

}  // namespace test
