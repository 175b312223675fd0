// Colour to gray by the weights of ITU-R BT.709, other channels by their mean.
#include "io/luminance.hpp"

#include "io/array_file.hpp"

#include <cmath>
#include <type_traits>
#include <utility>

namespace warpalign::program {
namespace {

template <typename Sample>
void weigh(const LoadedImage& colour, LoadedImage& gray) {
  const auto from = colour.samples<Sample>();
  const auto to = gray.samples<Sample>();
  for (std::size_t i = 0; i < to.size(); ++i) {
    const double value = 0.2126 * static_cast<double>(from[3 * i]) +
                         0.7152 * static_cast<double>(from[3 * i + 1]) +
                         0.0722 * static_cast<double>(from[3 * i + 2]);
    to[i] = static_cast<Sample>(std::is_integral_v<Sample> ? std::floor(value + 0.5) : value);
  }
}

template <typename Sample>
void average(const LoadedImage& image, LoadedImage& gray) {
  const auto from = image.samples<Sample>();
  const auto to = gray.samples<Sample>();
  const auto channels = static_cast<std::size_t>(image.channels);
  for (std::size_t i = 0; i < to.size(); ++i) {
    double sum = 0;
    for (std::size_t c = 0; c < channels; ++c) sum += static_cast<double>(from[i * channels + c]);
    const double mean = sum / static_cast<double>(channels);
    to[i] = static_cast<Sample>(std::is_integral_v<Sample> ? std::floor(mean + 0.5) : mean);
  }
}

template <typename Sample>
void make_gray(const LoadedImage& image, LoadedImage& gray) {
  image.channels == 3 ? weigh<Sample>(image, gray) : average<Sample>(image, gray);
}

/// Half precision is computed in single precision, which the gray image keeps.
LoadedImage widened(const LoadedImage& image) {
  Array wide = to_float({{image.height, image.width * image.channels}, image.type, image.pixels});
  return {image.width, image.height, image.channels, PixelType::f32, std::move(wide.bytes)};
}

LoadedImage gray_of(const LoadedImage& image) {
  if (image.type == PixelType::f16) return gray_of(widened(image));
  LoadedImage gray = make_image(image.width, image.height, 1, image.type);
  if (image.type == PixelType::u8) make_gray<std::uint8_t>(image, gray);
  if (image.type == PixelType::i8) make_gray<std::int8_t>(image, gray);
  if (image.type == PixelType::u16) make_gray<std::uint16_t>(image, gray);
  if (image.type == PixelType::i16) make_gray<std::int16_t>(image, gray);
  if (image.type == PixelType::u32) make_gray<std::uint32_t>(image, gray);
  if (image.type == PixelType::i32) make_gray<std::int32_t>(image, gray);
  if (image.type == PixelType::f32) make_gray<float>(image, gray);
  if (image.type == PixelType::f64) make_gray<double>(image, gray);
  return gray;
}

}  // namespace

Luminance::Luminance(const LoadedImage& image) : image_(&image) {
  if (image.channels != 1) converted_ = gray_of(image);
}

}  // namespace warpalign::program
