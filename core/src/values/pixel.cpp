// Names and sizes of pixel types and shapes.
#include <warpalign/pixel.hpp>

namespace warpalign {

namespace {

struct Traits {
  const char* name;
  std::size_t size;
};

Traits traits_of(PixelType type) noexcept {
  switch (type) {
    case PixelType::u8:
      return {"u8", 1};
    case PixelType::i8:
      return {"i8", 1};
    case PixelType::u16:
      return {"u16", 2};
    case PixelType::i16:
      return {"i16", 2};
    case PixelType::u32:
      return {"u32", 4};
    case PixelType::i32:
      return {"i32", 4};
    case PixelType::f16:
      return {"f16", 2};
    case PixelType::f32:
      return {"f32", 4};
    case PixelType::f64:
      return {"f64", 8};
    case PixelType::c32:
      return {"c32", 8};
  }
  return {"?", 0};
}

}  // namespace

std::size_t size_of(PixelType type) noexcept { return traits_of(type).size; }

const char* name_of(PixelType type) noexcept { return traits_of(type).name; }

std::string to_string(const Shape& shape) {
  std::string text = std::to_string(shape.width) + " x " + std::to_string(shape.height);
  if (shape.depth != 1) text += " x " + std::to_string(shape.depth);
  return text;
}

}  // namespace warpalign
