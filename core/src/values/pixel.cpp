// Names and sizes of pixel types and shapes.
#include <warpalign/pixel.hpp>

namespace warpalign {

std::size_t size_of(PixelType type) noexcept {
  switch (type) {
    case PixelType::u8:
      return 1;
    case PixelType::u16:
      return 2;
    case PixelType::f16:
      return 2;
    case PixelType::f32:
      return 4;
    case PixelType::c32:
      return 8;
  }
  return 0;
}

const char* name_of(PixelType type) noexcept {
  switch (type) {
    case PixelType::u8:
      return "u8";
    case PixelType::u16:
      return "u16";
    case PixelType::f16:
      return "f16";
    case PixelType::f32:
      return "f32";
    case PixelType::c32:
      return "c32";
  }
  return "?";
}

std::string to_string(const Shape& shape) {
  std::string text = std::to_string(shape.width) + " x " + std::to_string(shape.height);
  if (shape.depth != 1) text += " x " + std::to_string(shape.depth);
  return text;
}

}  // namespace warpalign
