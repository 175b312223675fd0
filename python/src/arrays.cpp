// Converts NumPy arrays to the library's views of host memory.
#include "arrays.hpp"

namespace nb = nanobind;

namespace warpalign::python {

PixelType pixel_type_of(nb::dlpack::dtype type) {
  const auto is = [&](nb::dlpack::dtype_code code, int bits) {
    return type.code == static_cast<std::uint8_t>(code) && type.bits == bits && type.lanes == 1;
  };
  using Code = nb::dlpack::dtype_code;
  if (is(Code::UInt, 8)) return PixelType::u8;
  if (is(Code::Int, 8)) return PixelType::i8;
  if (is(Code::UInt, 16)) return PixelType::u16;
  if (is(Code::Int, 16)) return PixelType::i16;
  if (is(Code::UInt, 32)) return PixelType::u32;
  if (is(Code::Int, 32)) return PixelType::i32;
  if (is(Code::Float, 16)) return PixelType::f16;
  if (is(Code::Float, 32)) return PixelType::f32;
  if (is(Code::Float, 64)) return PixelType::f64;
  throw nb::type_error("the array must hold integers of 8 to 32 bits or floats of 16 to 64 bits");
}

void refuse(const char* why) { throw nb::value_error(why); }

HostImage host_image(const InputArray& array) {
  if (array.ndim() != 2) refuse("an image must have two dimensions");
  const Shape shape = shape_of(array, 2);
  return {array.data(), pixel_type_of(array.dtype()), shape.width, shape.height, 0};
}

HostVolume host_volume(const InputArray& array) {
  if (array.ndim() != 3) refuse("a volume must have three dimensions");
  return {array.data(), pixel_type_of(array.dtype()), shape_of(array, 3)};
}

Image image_on(const Device& device, const HostImage& pixels) {
  Image image = device.make_image(pixels.type, pixels.shape());
  Stream stream = device.make_stream();
  stream.upload(pixels, image);
  stream.finish();
  return image;
}

Image image_on(const Device& device, const HostVolume& voxels) {
  Image image = device.make_image(voxels.type, voxels.shape);
  Stream stream = device.make_stream();
  stream.upload(voxels.data, image.size_bytes(), image.buffer());
  stream.finish();
  return image;
}

}  // namespace warpalign::python
