// Finds the missing samples of arrays in host memory.
#include <warpalign/error.hpp>

#include <warpalign/missing.hpp>
#include "device/host_rows.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>

namespace warpalign {

namespace {

constexpr std::uint16_t half_exponent = 0x7C00;  // all ones: infinite or NaN

template <typename Sample>
bool holds_integer(double value) {
  return value == std::trunc(value) &&
         value >= static_cast<double>(std::numeric_limits<Sample>::min()) &&
         value <= static_cast<double>(std::numeric_limits<Sample>::max());
}

bool is_half(double value) {
  if (!std::isfinite(value)) return true;
  constexpr double largest = 65504;
  // The last bit of a half is 2^-10 of its leading one, and at least 2^-24.
  const int exponent = value == 0 ? -24 : std::max(std::ilogb(value) - 10, -24);
  const double steps = std::ldexp(value, -exponent);
  return std::abs(value) <= largest && steps == std::trunc(steps);
}

/// The bits of a value that a half holds, except for the sign of zero.
std::uint16_t half_bits(double value) {
  const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
  if (std::isnan(value)) return half_exponent | 0x200;
  if (std::isinf(value)) return sign | half_exponent;
  const double size = std::abs(value);
  const int exponent = size == 0 ? -15 : std::max(std::ilogb(size), -15);
  if (exponent < -14) return sign | static_cast<std::uint16_t>(std::ldexp(size, 24));
  const auto mantissa = static_cast<int>(std::ldexp(size, 10 - exponent)) - 1024;
  return static_cast<std::uint16_t>(sign | (exponent + 15) << 10 | mantissa);
}

/// Appends one row of `n` samples. Returns how many are missing.
template <typename Sample, typename IsMissing>
std::int64_t mark_row(const void* row, std::size_t n, std::uint8_t* known, IsMissing is_missing) {
  const auto* bytes = static_cast<const std::byte*>(row);
  std::int64_t missing = 0;
  for (std::size_t i = 0; i < n; ++i) {
    Sample sample;
    std::memcpy(&sample, bytes + i * sizeof(Sample), sizeof(Sample));
    const bool is_known = !is_missing(sample);
    known[i] = is_known ? 1 : 0;
    missing += is_known ? 0 : 1;
  }
  return missing;
}

template <typename Sample>
std::int64_t mark_numbers(const void* row, std::size_t n, std::uint8_t* known,
                          std::optional<double> nodata) {
  if constexpr (std::is_integral_v<Sample>) {
    const auto value = static_cast<Sample>(nodata.value_or(0));
    return mark_row<Sample>(row, n, known, [=](Sample sample) { return sample == value; });
  } else {
    const bool has_value = nodata.has_value();
    const auto value = static_cast<Sample>(nodata.value_or(0));
    return mark_row<Sample>(row, n, known, [=](Sample sample) {
      return !std::isfinite(sample) || (has_value && sample == value);
    });
  }
}

std::int64_t mark_halves(const void* row, std::size_t n, std::uint8_t* known,
                         std::optional<double> nodata) {
  const std::uint16_t value = nodata && !std::isnan(*nodata) ? half_bits(*nodata) : half_exponent;
  const bool is_zero = (value & 0x7FFF) == 0;
  return mark_row<std::uint16_t>(row, n, known, [=](std::uint16_t bits) {
    return (bits & half_exponent) == half_exponent || bits == value ||
           (is_zero && (bits & 0x7FFF) == 0);
  });
}

std::int64_t mark_complex(const void* row, std::size_t n, std::uint8_t* known) {
  struct Parts {
    float real, imaginary;
  };
  return mark_row<Parts>(row, n, known, [](const Parts& sample) {
    return !std::isfinite(sample.real) || !std::isfinite(sample.imaginary);
  });
}

std::int64_t mark(PixelType type, const void* row, std::size_t n, std::uint8_t* known,
                  std::optional<double> nodata) {
  switch (type) {
    case PixelType::u8:
      return mark_numbers<std::uint8_t>(row, n, known, nodata);
    case PixelType::i8:
      return mark_numbers<std::int8_t>(row, n, known, nodata);
    case PixelType::u16:
      return mark_numbers<std::uint16_t>(row, n, known, nodata);
    case PixelType::i16:
      return mark_numbers<std::int16_t>(row, n, known, nodata);
    case PixelType::u32:
      return mark_numbers<std::uint32_t>(row, n, known, nodata);
    case PixelType::i32:
      return mark_numbers<std::int32_t>(row, n, known, nodata);
    case PixelType::f16:
      return mark_halves(row, n, known, nodata);
    case PixelType::f32:
      return mark_numbers<float>(row, n, known, nodata);
    case PixelType::f64:
      return mark_numbers<double>(row, n, known, nodata);
    case PixelType::c32:
      break;
  }
  return mark_complex(row, n, known);
}

/// The shortest decimal number that is this one.
std::string shortest(double value) {
  std::array<char, 32> text{};
  const auto [end, failed] = std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), end};
}

void require_held(PixelType type, double value) {
  if (can_hold(type, value)) return;
  throw Error(ErrorKind::invalid_argument, "nodata is " + shortest(value) +
                                               ", which no sample of the type " + name_of(type) +
                                               " can have; choose a value of the type");
}

template <typename Sample>
void store_as(double value, void* sample) {
  const auto stored = static_cast<Sample>(value);
  std::memcpy(sample, &stored, sizeof(Sample));
}

bool is_integer(PixelType type) {
  return type != PixelType::f16 && type != PixelType::f32 && type != PixelType::f64 &&
         type != PixelType::c32;
}

/// Marks rows that are `pitch` bytes apart.
KnownSamples marked(const void* data, PixelType type, const Shape& shape, std::size_t pitch,
                    std::optional<double> nodata) {
  if (nodata) require_held(type, *nodata);
  KnownSamples samples;
  samples.known.assign(static_cast<std::size_t>(shape.pixels()), 1);
  if (is_integer(type) && !nodata) return samples;
  const auto width = static_cast<std::size_t>(shape.width);
  const auto* row = static_cast<const std::byte*>(data);
  std::uint8_t* known = samples.known.data();
  for (std::int64_t i = 0; i < shape.height * shape.depth; ++i) {
    samples.missing += mark(type, row, width, known, nodata);
    row += pitch;
    known += width;
  }
  return samples;
}

}  // namespace

bool can_hold(PixelType type, double value) noexcept {
  switch (type) {
    case PixelType::u8:
      return holds_integer<std::uint8_t>(value);
    case PixelType::i8:
      return holds_integer<std::int8_t>(value);
    case PixelType::u16:
      return holds_integer<std::uint16_t>(value);
    case PixelType::i16:
      return holds_integer<std::int16_t>(value);
    case PixelType::u32:
      return holds_integer<std::uint32_t>(value);
    case PixelType::i32:
      return holds_integer<std::int32_t>(value);
    case PixelType::f16:
      return is_half(value);
    case PixelType::f32:
      return std::isnan(value) || std::isinf(value) ||
             (std::abs(value) <= static_cast<double>(std::numeric_limits<float>::max()) &&
              static_cast<double>(static_cast<float>(value)) == value);
    case PixelType::f64:
      return true;
    case PixelType::c32:
      break;
  }
  return false;
}

void store_value(PixelType type, double value, void* sample) {
  if (type != PixelType::c32) require_held(type, value);
  switch (type) {
    case PixelType::u8:
      return store_as<std::uint8_t>(value, sample);
    case PixelType::i8:
      return store_as<std::int8_t>(value, sample);
    case PixelType::u16:
      return store_as<std::uint16_t>(value, sample);
    case PixelType::i16:
      return store_as<std::int16_t>(value, sample);
    case PixelType::u32:
      return store_as<std::uint32_t>(value, sample);
    case PixelType::i32:
      return store_as<std::int32_t>(value, sample);
    case PixelType::f16: {
      const std::uint16_t bits = half_bits(value);
      std::memcpy(sample, &bits, sizeof bits);
      return;
    }
    case PixelType::f32:
      return store_as<float>(value, sample);
    case PixelType::f64:
      return store_as<double>(value, sample);
    case PixelType::c32:
      break;
  }
  store_as<float>(value, sample);
  store_as<float>(std::isnan(value) ? value : 0, static_cast<std::byte*>(sample) + sizeof(float));
}

KnownSamples known_samples(const HostImage& image, std::optional<double> nodata) {
  return marked(image.data, image.type, image.shape(), detail::pitch_of(image), nodata);
}

KnownSamples known_samples(const HostVolume& volume, std::optional<double> nodata) {
  const std::size_t row = static_cast<std::size_t>(volume.shape.width) * size_of(volume.type);
  return marked(volume.data, volume.type, volume.shape, row, nodata);
}

}  // namespace warpalign
