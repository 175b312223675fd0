// NumPy arrays as the library takes them.
#include "arrays.hpp"

namespace nb = nanobind;

namespace warpalign::python {

PixelType pixel_type_of(nb::dlpack::dtype type) {
  if (type == nb::dtype<std::uint8_t>()) return PixelType::u8;
  if (type == nb::dtype<std::uint16_t>()) return PixelType::u16;
  if (type == nb::dtype<float>()) return PixelType::f32;
  const auto floating = static_cast<std::uint8_t>(nb::dlpack::dtype_code::Float);
  if (type.code == floating && type.bits == 16 && type.lanes == 1) return PixelType::f16;
  throw nb::type_error("an array of uint8, uint16, float16 or float32 is needed");
}

void refuse(const char* why) { throw nb::value_error(why); }

HostImage host_image(const InputArray& array) {
  if (array.ndim() != 2) refuse("an image has two dimensions");
  const Shape shape = shape_of(array, 2);
  return {array.data(), pixel_type_of(array.dtype()), shape.width, shape.height, 0};
}

HostVolume host_volume(const InputArray& array) {
  if (array.ndim() != 3) refuse("a volume has three dimensions");
  return {array.data(), pixel_type_of(array.dtype()), shape_of(array, 3)};
}

}  // namespace warpalign::python
