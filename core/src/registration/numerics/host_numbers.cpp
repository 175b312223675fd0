// Samples in host memory, as numbers of double precision.
#include "registration/numerics/host_numbers.hpp"

#include <warpalign/missing.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

namespace warpalign::detail {

namespace {

double number_of_half(std::uint16_t bits) {
  const int exponent = bits >> 10 & 0x1F;
  const int mantissa = bits & 0x3FF;
  const double size = exponent == 0 ? std::ldexp(mantissa, -24)
                      : exponent == 31
                          ? (mantissa == 0 ? std::numeric_limits<double>::infinity() : std::nan(""))
                          : std::ldexp(1024 + mantissa, exponent - 25);
  return (bits & 0x8000) != 0 ? -size : size;
}

/// The nearest number that a half holds.
double nearest_half(double value) {
  if (!std::isfinite(value) || value == 0) return value;
  const int exponent = std::max(std::ilogb(value) - 10, -24);
  const double rounded = std::ldexp(std::nearbyint(std::ldexp(value, -exponent)), exponent);
  constexpr double largest = 65504;
  return std::clamp(rounded, -largest, largest);
}

template <typename Sample>
void read_as(const void* line, std::span<double> samples) {
  const auto* bytes = static_cast<const std::byte*>(line);
  for (double& number : samples) {
    Sample sample;
    std::memcpy(&sample, bytes, sizeof(Sample));
    bytes += sizeof(Sample);
    number = static_cast<double>(sample);
  }
}

template <typename Sample>
void write_as(std::span<const double> samples, void* line) {
  auto* bytes = static_cast<std::byte*>(line);
  for (double number : samples) {
    if constexpr (std::numeric_limits<Sample>::is_integer) {
      number =
          std::clamp(std::round(number), static_cast<double>(std::numeric_limits<Sample>::min()),
                     static_cast<double>(std::numeric_limits<Sample>::max()));
    }
    const auto sample = static_cast<Sample>(number);
    std::memcpy(bytes, &sample, sizeof(Sample));
    bytes += sizeof(Sample);
  }
}

}  // namespace

void read_line(PixelType type, const void* line, std::span<double> samples) {
  switch (type) {
    case PixelType::u8:
      return read_as<std::uint8_t>(line, samples);
    case PixelType::i8:
      return read_as<std::int8_t>(line, samples);
    case PixelType::u16:
      return read_as<std::uint16_t>(line, samples);
    case PixelType::i16:
      return read_as<std::int16_t>(line, samples);
    case PixelType::u32:
      return read_as<std::uint32_t>(line, samples);
    case PixelType::i32:
      return read_as<std::int32_t>(line, samples);
    case PixelType::f32:
      return read_as<float>(line, samples);
    case PixelType::f64:
      return read_as<double>(line, samples);
    case PixelType::f16:
    case PixelType::c32:
      break;
  }
  const auto* bytes = static_cast<const std::byte*>(line);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    std::uint16_t half = 0;
    std::memcpy(&half, bytes + 2 * i, 2);
    samples[i] = number_of_half(half);
  }
}

void write_line(PixelType type, std::span<const double> samples, void* line) {
  switch (type) {
    case PixelType::u8:
      return write_as<std::uint8_t>(samples, line);
    case PixelType::i8:
      return write_as<std::int8_t>(samples, line);
    case PixelType::u16:
      return write_as<std::uint16_t>(samples, line);
    case PixelType::i16:
      return write_as<std::int16_t>(samples, line);
    case PixelType::u32:
      return write_as<std::uint32_t>(samples, line);
    case PixelType::i32:
      return write_as<std::int32_t>(samples, line);
    case PixelType::f32:
      return write_as<float>(samples, line);
    case PixelType::f64:
      return write_as<double>(samples, line);
    case PixelType::f16:
    case PixelType::c32:
      break;
  }
  auto* bytes = static_cast<std::byte*>(line);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    store_value(PixelType::f16, nearest_half(samples[i]), bytes + 2 * i);
  }
}

}  // namespace warpalign::detail
