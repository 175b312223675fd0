// Conversion of images of the C interface to those of the C++ interface.
#include "c_interface/images.hpp"

#include "c_interface/call.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace warpalign::c_interface {

namespace {

constexpr std::array types{PixelType::u8,  PixelType::i8,  PixelType::u16, PixelType::i16,
                           PixelType::u32, PixelType::i32, PixelType::f16, PixelType::f32,
                           PixelType::f64, PixelType::c32};
static_assert(types[WARPALIGN_U8] == PixelType::u8 && types[WARPALIGN_I8] == PixelType::i8 &&
              types[WARPALIGN_U16] == PixelType::u16 && types[WARPALIGN_I16] == PixelType::i16 &&
              types[WARPALIGN_U32] == PixelType::u32 && types[WARPALIGN_I32] == PixelType::i32 &&
              types[WARPALIGN_F16] == PixelType::f16 && types[WARPALIGN_F32] == PixelType::f32 &&
              types[WARPALIGN_F64] == PixelType::f64 && types[WARPALIGN_C32] == PixelType::c32);

std::int64_t at_least_one(std::int64_t depth) { return depth == 0 ? 1 : depth; }

void check_data(const void* data, const char* what) {
  if (data == nullptr) refuse(std::string(what) + " has no data");
}

void check_dense(const warpalign_image& volume, PixelType type, const char* what) {
  const auto size = static_cast<std::int64_t>(size_of(type));
  const std::int64_t bytes = volume.row_bytes;
  if (bytes == 0 || (bytes % size == 0 && bytes / size == volume.width)) return;
  refuse(std::string(what) + " is a volume with row_bytes of " + std::to_string(bytes) +
         "; the rows of volumes must be dense (0, or the width times " + std::to_string(size) +
         ")");
}

}  // namespace

PixelType pixel_type(warpalign_pixel_type type, const char* what) {
  if (type >= 0 && static_cast<std::size_t>(type) < types.size()) {
    return types[static_cast<std::size_t>(type)];
  }
  refuse(std::string(what) + " has the unknown pixel type " + std::to_string(type));
}

warpalign_pixel_type type_number(PixelType type) noexcept {
  return static_cast<warpalign_pixel_type>(std::find(types.begin(), types.end(), type) -
                                           types.begin());
}

Shape shape_of(const warpalign_image& image) noexcept {
  return {image.width, image.height, at_least_one(image.depth)};
}

Shape shape_of(const warpalign_output& output) noexcept {
  return {output.width, output.height, at_least_one(output.depth)};
}

HostImage host_image(const warpalign_image* image, const char* what) {
  const warpalign_image& given = required(image, what);
  check_data(given.data, what);
  if (at_least_one(given.depth) != 1) refuse(std::string(what) + " is a volume, not an image");
  return {given.data, pixel_type(given.type, what), given.width, given.height, given.row_bytes};
}

HostVolume host_volume(const warpalign_image* volume, const char* what) {
  const warpalign_image& given = required(volume, what);
  check_data(given.data, what);
  const PixelType type = pixel_type(given.type, what);
  check_dense(given, type, what);
  return {given.data, type, shape_of(given)};
}

Image uploaded(const Device& device, Stream& stream, const warpalign_image& image,
               const char* what) {
  check_data(image.data, what);
  const PixelType type = pixel_type(image.type, what);
  const Shape shape = shape_of(image);
  Image target = device.make_image(type, shape);
  if (shape.depth == 1) {
    stream.upload(HostImage{image.data, type, shape.width, shape.height, image.row_bytes}, target);
    return target;
  }
  check_dense(image, type, what);
  stream.upload(image.data, target.size_bytes(), target.buffer());
  return target;
}

void check_output(const warpalign_output& output, const char* what) {
  check_data(output.data, what);
  static_cast<void>(pixel_type(output.type, what));
}

void download(Stream& stream, const Image& image, const warpalign_output& output) {
  stream.download(image, output.data, image.size_bytes());
}

}  // namespace warpalign::c_interface
