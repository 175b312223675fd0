// Converts images to arrays, one for each channel, and back; .npy files stay as they are.
#include "io/array_file.hpp"

#include "io/image_name.hpp"

#include <warpalign/missing.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace warpalign::program {
namespace {

/// Copies `count` samples with these distances between consecutive samples.
void copy_strided(const std::byte* from, std::size_t from_step, std::byte* to, std::size_t to_step,
                  std::size_t count, std::size_t bytes) {
  if (from_step == 1 && to_step == 1) {  // gray images, the usual case
    std::memcpy(to, from, count * bytes);
    return;
  }
  for (std::size_t i = 0; i < count; ++i) {
    std::memcpy(to + i * to_step * bytes, from + i * from_step * bytes, bytes);
  }
}

template <typename Sample, typename Wide>
void widen(const Array& from, Array& to) {
  const auto samples = from.samples<Sample>();
  const auto wide = to.samples<Wide>();
  for (std::size_t i = 0; i < wide.size(); ++i) wide[i] = static_cast<Wide>(samples[i]);
}

/// IEEE 754 half precision: 5 bits of exponent, 10 of mantissa.
float value_of_half(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const int mantissa = bits & 1023;
  float value = 0;
  if (exponent == 31) {
    value = mantissa != 0 ? std::numeric_limits<float>::quiet_NaN()
                          : std::numeric_limits<float>::infinity();
  } else if (exponent == 0) {
    value = std::ldexp(static_cast<float>(mantissa), -24);
  } else {
    value = std::ldexp(static_cast<float>(mantissa + 1024), exponent - 25);
  }
  return (bits & 0x8000) != 0 ? -value : value;
}

template <typename Wide>
void widen_halves(const Array& from, Array& to) {
  std::ranges::transform(from.samples<std::uint16_t>(), to.samples<Wide>().begin(), value_of_half);
}

/// Converts real numbers to f32 (float) or f64 (double).
template <typename Wide>
Array widened(const Array& array, PixelType type) {
  Array wide = make_array(array.extents, type);
  if (array.type == PixelType::u8) widen<std::uint8_t, Wide>(array, wide);
  if (array.type == PixelType::i8) widen<std::int8_t, Wide>(array, wide);
  if (array.type == PixelType::u16) widen<std::uint16_t, Wide>(array, wide);
  if (array.type == PixelType::i16) widen<std::int16_t, Wide>(array, wide);
  if (array.type == PixelType::u32) widen<std::uint32_t, Wide>(array, wide);
  if (array.type == PixelType::i32) widen<std::int32_t, Wide>(array, wide);
  if (array.type == PixelType::f32) widen<float, Wide>(array, wide);
  if (array.type == PixelType::f64) widen<double, Wide>(array, wide);
  if (array.type == PixelType::f16) widen_halves<Wide>(array, wide);
  return wide;
}

template <typename Sample>
void narrow(const Array& from, Array& to) {
  constexpr auto least = static_cast<double>(std::numeric_limits<Sample>::lowest());
  constexpr auto most = static_cast<double>(std::numeric_limits<Sample>::max());
  const auto numbers = from.samples<double>();
  const auto samples = to.samples<Sample>();
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const double number = std::isnan(numbers[i]) ? 0 : std::round(numbers[i]);
    samples[i] = static_cast<Sample>(std::clamp(number, least, most));
  }
}

/// The half that is nearest to a number; infinity if it is too large.
void store_half(double number, std::uint16_t* half) {
  constexpr double largest = 65504;
  constexpr int least_exponent = -14;
  double nearest = number;
  if (std::isfinite(number) && number != 0) {
    const double step = std::ldexp(1.0, std::max(std::ilogb(number), least_exponent) - 10);
    nearest = std::nearbyint(number / step) * step;
    if (std::abs(nearest) > largest) {
      nearest = std::copysign(std::numeric_limits<double>::infinity(), number);
    }
  }
  store_value(PixelType::f16, nearest, half);
}

}  // namespace

std::vector<Array> split_channels(const LoadedImage& image) {
  const auto channels = static_cast<std::size_t>(image.channels);
  const auto pixels = static_cast<std::size_t>(image.width * image.height);
  const std::size_t bytes = size_of(image.type);
  std::vector<Array> arrays;
  for (std::size_t channel = 0; channel < channels; ++channel) {
    arrays.push_back(make_array({image.height, image.width}, image.type));
    copy_strided(image.pixels.data() + channel * bytes, channels, arrays.back().bytes.data(), 1,
                 pixels, bytes);
  }
  return arrays;
}

LoadedImage join_channels(const std::vector<Array>& channels) {
  const Shape shape = channels.front().shape();
  const std::size_t bytes = size_of(channels.front().type);
  LoadedImage image = make_image(shape.width, shape.height, static_cast<int>(channels.size()),
                                 channels.front().type);
  for (std::size_t channel = 0; channel < channels.size(); ++channel) {
    copy_strided(channels[channel].bytes.data(), 1, image.pixels.data() + channel * bytes,
                 channels.size(), static_cast<std::size_t>(shape.plane()), bytes);
  }
  return image;
}

ArrayFile load_array_file(const std::filesystem::path& path) {
  const ImageName name = image_name(path);
  if (!name.page && is_npy(name.file)) {
    ArrayFile file{{load_npy(path)}, {}};
    file.description = describe(file.first());
    return file;
  }
  const LoadedImage image = load_image(path);
  return {split_channels(image), describe(image)};
}

void check_written_name(const std::filesystem::path& path) {
  if (is_npy_name(path)) return;
  try {
    (void)format_of_name(path);
  } catch (const FileError& error) {
    throw FileError(fmt::format("{}, or in .npy", error.what()));
  }
}

void check_storable(const std::filesystem::path& path, std::size_t channels,
                    const std::vector<std::int64_t>& extents, PixelType type) {
  const auto refuse = [&](const std::string& why) {
    throw FileError(fmt::format("{}: {}", path.string(), why));
  };
  check_extents(path, extents, type);
  if (is_npy_name(path)) {
    if (channels == 1) return;
    refuse("colour images cannot be written as .npy; use .png or .tif");
  }
  if (type == PixelType::c32) {
    refuse(
        "the result has complex numbers, which no image format can hold; use a name that ends in "
        ".npy");
  }
  if (extents.size() != 2) {
    refuse(fmt::format(
        "the result has {} dimension{}, which no image format can hold; use a name that "
        "ends in .npy",
        extents.size(), extents.size() == 1 ? "" : "s"));
  }
  if (std::max(extents[0], extents[1]) > max_side) {
    refuse(fmt::format("the result has {} x {} pixels; images have at most {} on each side",
                       extents[1], extents[0], max_side));
  }
  check_storable(path, format_of_name(path), static_cast<int>(channels), type);
}

std::vector<std::byte> encode_arrays(const std::filesystem::path& path,
                                     const std::vector<Array>& channels) {
  if (is_npy_name(path)) return write_npy(channels.front());
  return encode_image(join_channels(channels), format_of_name(path));
}

Array to_float(const Array& array) {
  if (array.type == PixelType::f32 || array.type == PixelType::c32) return array;
  return widened<float>(array, PixelType::f32);
}

Array to_double(const Array& array) { return widened<double>(array, PixelType::f64); }

Array from_double(const Array& numbers, PixelType type) {
  if (type == PixelType::f64) return numbers;
  Array result = make_array(numbers.extents, type);
  if (type == PixelType::u8) narrow<std::uint8_t>(numbers, result);
  if (type == PixelType::i8) narrow<std::int8_t>(numbers, result);
  if (type == PixelType::u16) narrow<std::uint16_t>(numbers, result);
  if (type == PixelType::i16) narrow<std::int16_t>(numbers, result);
  if (type == PixelType::u32) narrow<std::uint32_t>(numbers, result);
  if (type == PixelType::i32) narrow<std::int32_t>(numbers, result);
  if (type == PixelType::f32) widen<double, float>(numbers, result);
  if (type == PixelType::f16) {
    const auto halves = result.samples<std::uint16_t>();
    for (std::size_t i = 0; i < halves.size(); ++i) {
      store_half(numbers.samples<double>()[i], &halves[i]);
    }
  }
  return result;
}

}  // namespace warpalign::program
