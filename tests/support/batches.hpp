// Helpers that compare a batch with its arrays one by one: they cut host memory into arrays.
#pragma once

#include <warpalign/device.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace test {

using Bytes = std::vector<std::byte>;

/// Array `index` of a batch.
inline Bytes array_of(const Bytes& batch, std::int64_t arrays, std::int64_t index) {
  const std::size_t size = batch.size() / static_cast<std::size_t>(arrays);
  const auto first = batch.begin() + static_cast<std::ptrdiff_t>(size) * index;
  return {first, first + static_cast<std::ptrdiff_t>(size)};
}

/// Pixels of type f32 or c32 from -1 to 1, or any pixels of other types, but no NaN.
inline Bytes random_pixels(warpalign::PixelType type, const warpalign::Shape& shape,
                           std::uint32_t seed) {
  using warpalign::PixelType;
  std::mt19937 random(seed);
  Bytes bytes(static_cast<std::size_t>(shape.pixels()) * warpalign::size_of(type));
  if (type != PixelType::f32 && type != PixelType::c32) {
    // 16 bits that are a finite number both as an integer and as a half: not all exponent bits are
    // 1.
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random() & 0x3fU);
    return bytes;
  }
  std::uniform_real_distribution<float> value(-1, 1);
  for (std::size_t i = 0; i < bytes.size(); i += sizeof(float)) {
    const float pixel = value(random);
    std::memcpy(bytes.data() + i, &pixel, sizeof pixel);
  }
  return bytes;
}

inline warpalign::Image image_of(const warpalign::Device& device, warpalign::Stream& stream,
                                 warpalign::PixelType type, const warpalign::Shape& shape,
                                 const Bytes& bytes) {
  auto image = device.make_image(type, shape);
  stream.upload(bytes.data(), bytes.size(), image.buffer());
  return image;
}

inline Bytes bytes_of(warpalign::Stream& stream, const warpalign::Image& image) {
  Bytes bytes(image.size_bytes());
  stream.download(image, bytes.data(), bytes.size());
  return bytes;
}

/// The largest difference between floats. A NaN counts as an infinite difference.
inline double largest_difference(const Bytes& a, const Bytes& b) {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  if (a.size() != b.size() || a.empty()) return infinite;
  double largest = 0;
  for (std::size_t i = 0; i + sizeof(float) <= a.size(); i += sizeof(float)) {
    float x, y;
    std::memcpy(&x, a.data() + i, sizeof x);
    std::memcpy(&y, b.data() + i, sizeof y);
    const double difference = std::abs(static_cast<double>(x) - static_cast<double>(y));
    largest = std::isnan(difference) ? infinite : std::max(largest, difference);
  }
  return largest;
}

}  // namespace test
