// Colour to gray by the weights of ITU-R BT.709.
#include "io/luminance.hpp"

#include <cmath>
#include <type_traits>

namespace warpalign::program {
namespace {

template <typename Sample>
void weigh(const LoadedImage& colour, LoadedImage& gray) {
  const auto from = colour.samples<Sample>();
  const auto to = gray.samples<Sample>();
  for (std::size_t i = 0; i < to.size(); ++i) {
    const double value = 0.2126 * from[3 * i] + 0.7152 * from[3 * i + 1] + 0.0722 * from[3 * i + 2];
    to[i] = static_cast<Sample>(std::is_integral_v<Sample> ? std::floor(value + 0.5) : value);
  }
}

}  // namespace

Luminance::Luminance(const LoadedImage& image) : image_(&image) {
  if (image.channels == 1) return;
  converted_ = make_image(image.width, image.height, 1, image.type);
  if (image.type == PixelType::u8) weigh<std::uint8_t>(image, *converted_);
  if (image.type == PixelType::u16) weigh<std::uint16_t>(image, *converted_);
  if (image.type == PixelType::f32) weigh<float>(image, *converted_);
}

}  // namespace warpalign::program
