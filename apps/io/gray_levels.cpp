// Images as gray levels from 0 to 255, and back.
#include "io/gray_levels.hpp"

#include "io/array_file.hpp"
#include "io/luminance.hpp"

#include <algorithm>
#include <cmath>

namespace warpalign::program {
namespace {

template <typename Sample>
void scale(const LoadedImage& image, float factor, std::vector<float>& levels) {
  const auto samples = image.samples<Sample>();
  std::transform(samples.begin(), samples.end(), levels.begin(),
                 [&](Sample sample) { return static_cast<float>(sample) * factor; });
}

/// The scale of types that only stacks support: 255 stands for an integer type's largest value.
float level_of_one(PixelType type) {
  if (type == PixelType::i8) return 255.0F / 127;
  if (type == PixelType::i16) return 255.0F / 32767;
  if (type == PixelType::u32) return 255.0F / 4294967295.0F;
  if (type == PixelType::i32) return 255.0F / 2147483647.0F;
  return 255;
}

void scale_any(const LoadedImage& image, std::vector<float>& levels) {
  const Array wide =
      to_float({{image.height, image.width * image.channels}, image.type, image.pixels});
  std::transform(wide.samples<float>().begin(), wide.samples<float>().end(), levels.begin(),
                 [factor = level_of_one(image.type)](float sample) { return sample * factor; });
}

std::vector<float> levels_of(const LoadedImage& image) {
  std::vector<float> levels(image.pixels.size() / size_of(image.type));
  switch (image.type) {
    case PixelType::u8:
      scale<std::uint8_t>(image, 1, levels);
      break;
    case PixelType::u16:
      scale<std::uint16_t>(image, 1.0F / 257, levels);
      break;
    case PixelType::f32:
      scale<float>(image, 255, levels);
      break;
    default:
      scale_any(image, levels);
  }
  return levels;
}

/// NaN becomes black.
std::uint8_t nearest_level(float level) {
  return static_cast<std::uint8_t>(level > 0 ? std::min(std::floor(level + 0.5F), 255.0F) : 0.0F);
}

void fill(LoadedImage& image, std::span<const float> levels) {
  std::transform(levels.begin(), levels.end(), image.samples<std::uint8_t>().begin(),
                 nearest_level);
}

}  // namespace

std::vector<float> gray_levels(const LoadedImage& image) {
  return levels_of(Luminance(image).image());
}

LoadedImage gray_image(std::span<const float> levels, const Shape& shape) {
  LoadedImage image = make_image(shape.width, shape.height, 1, PixelType::u8);
  fill(image, levels);
  return image;
}

LoadedImage to_8_bit(const LoadedImage& image) {
  LoadedImage result = make_image(image.width, image.height, image.channels, PixelType::u8);
  fill(result, levels_of(image));
  return result;
}

}  // namespace warpalign::program
