// The pixels of an image of any real type, as numbers.
#pragma once

#include "device/host_rows.hpp"

#include <warpalign/pixel.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace warpalign::detail {

/// The value of a half-precision number.
[[nodiscard]] inline double value_of_half(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const int mantissa = bits & 1023;
  const double magnitude =
      exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

template <typename Sample>
[[nodiscard]] double sample_of(const std::byte* row, std::int64_t x) {
  return static_cast<double>(reinterpret_cast<const Sample*>(row)[x]);
}

/// The pixels of an image of any real type, as numbers.
class RealPixels {
 public:
  explicit RealPixels(const HostImage& image)
      : image_(image), row_bytes_(static_cast<std::int64_t>(pitch_of(image))) {}

  [[nodiscard]] double at(std::int64_t x, std::int64_t y) const {
    const auto* row = static_cast<const std::byte*>(image_.data) + y * row_bytes_;
    switch (image_.type) {
      case PixelType::u8:
        return sample_of<std::uint8_t>(row, x);
      case PixelType::i8:
        return sample_of<std::int8_t>(row, x);
      case PixelType::u16:
        return sample_of<std::uint16_t>(row, x);
      case PixelType::i16:
        return sample_of<std::int16_t>(row, x);
      case PixelType::u32:
        return sample_of<std::uint32_t>(row, x);
      case PixelType::i32:
        return sample_of<std::int32_t>(row, x);
      case PixelType::f16:
        return value_of_half(reinterpret_cast<const std::uint16_t*>(row)[x]);
      case PixelType::f64:
        return sample_of<double>(row, x);
      default:
        return sample_of<float>(row, x);
    }
  }
  /// Bilinear interpolation.
  [[nodiscard]] double between(double x, double y) const {
    const auto i = static_cast<std::int64_t>(std::floor(x));
    const auto j = static_cast<std::int64_t>(std::floor(y));
    const double u = x - static_cast<double>(i);
    const double v = y - static_cast<double>(j);
    const double upper = at(i, j) * (1 - u) + at(i + 1, j) * u;
    const double lower = at(i, j + 1) * (1 - u) + at(i + 1, j + 1) * u;
    return upper * (1 - v) + lower * v;
  }

 private:
  const HostImage& image_;
  std::int64_t row_bytes_;
};

/// All pixels of an image as numbers, in dense rows.
[[nodiscard]] inline std::vector<double> real_pixels(const HostImage& image) {
  const RealPixels pixels(image);
  std::vector<double> numbers;
  numbers.reserve(static_cast<std::size_t>(image.width * image.height));
  for (std::int64_t y = 0; y < image.height; ++y) {
    for (std::int64_t x = 0; x < image.width; ++x) numbers.push_back(pixels.at(x, y));
  }
  return numbers;
}

}  // namespace warpalign::detail
