// Conversion of images whose types the kernels do not load or store.
#pragma once

#include <warpalign/device.hpp>
#include <warpalign/stages/convert.hpp>

namespace warpalign::detail {

/// The type that the spline kernels load and store for images of `type`: u8, u16, f16, f32 and c32
/// are unchanged, all others become f32.
[[nodiscard]] constexpr PixelType kernel_type(PixelType type) noexcept {
  switch (type) {
    case PixelType::u8:
    case PixelType::u16:
    case PixelType::f16:
    case PixelType::c32:
      return type;
    default:
      return PixelType::f32;
  }
}

/// Converts an input to f32, in its own memory.
class ConvertedInput {
 public:
  ConvertedInput(const Device& device, PixelType type, const Shape& shape)
      : plan_(device, {shape, type, PixelType::f32}),
        image_(device.make_image(PixelType::f32, shape)) {}

  /// Enqueues the conversion. The result is valid until the next conversion.
  const Image& convert(Stream& stream, const Image& image) {
    plan_.execute(stream, image, image_);
    return image_;
  }

 private:
  ConvertPlan plan_;
  Image image_;
};

/// Stores f32 pixels and converts them to an output.
class ConvertedOutput {
 public:
  ConvertedOutput(const Device& device, PixelType type, const Shape& shape)
      : plan_(device, {shape, PixelType::f32, type}),
        image_(device.make_image(PixelType::f32, shape)) {}

  /// The image for the f32 pixels.
  [[nodiscard]] Image& pixels() { return image_; }
  /// Enqueues the conversion.
  void convert(Stream& stream, Image& output) const { plan_.execute(stream, image_, output); }

 private:
  ConvertPlan plan_;
  Image image_;
};

/// A converter if the type needs one, else null.
template <class Converter>
[[nodiscard]] std::shared_ptr<Converter> converter_for(const Device& device, PixelType type,
                                                       const Shape& shape) {
  if (kernel_type(type) == type) return nullptr;
  return std::make_shared<Converter>(device, type, shape);
}

}  // namespace warpalign::detail
