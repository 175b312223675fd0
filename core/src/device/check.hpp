// Argument checks of the stages. Each throws Error(invalid_argument) with the name of the stage.
#pragma once

#include <warpalign/device.hpp>
#include <warpalign/error.hpp>
#include <warpalign/homogeneous_matrix.hpp>
#include <warpalign/stages/spline_model.hpp>

#include <initializer_list>
#include <span>
#include <string>

namespace warpalign::detail {

/// The largest side of an image: all 2-D FFT libraries and texture units support at least this.
inline constexpr std::int64_t max_side = 16384;

[[noreturn]] void refuse(const char* stage, const std::string& message);
/// Every extent must be at least 1 and at most `max_side` (depth: at most `max_depth`).
void check_shape(const char* stage, const char* what, const Shape& shape,
                 std::int64_t max_depth = 1);
/// The check for arrays, which may be larger than images: every extent must be 1 to 2^30.
void check_array(const char* stage, const char* what, const Shape& shape);
/// A batch must contain at least one array, and the stack of all arrays must pass check_array().
/// `array` must have passed check_array() before.
void check_batch(const char* stage, const char* what, const Shape& array, int dimensions,
                 std::int64_t batch);
void check_batch(const char* stage, const char* what, const ImageBatch& images);
/// The number of dimensions must be 1, 2 or 3.
void check_dimensions(const char* stage, int dimensions);
void check_same_device(const char* stage, const char* what, const Device& plan,
                       const Device& argument);
void check_image(const char* stage, const char* what, const Device& plan, const Image& image,
                 PixelType type, const Shape& shape);
void check_buffer(const char* stage, const char* what, const Device& plan, const Buffer& buffer,
                  std::size_t bytes);
void check_stream(const char* stage, const Device& plan, const Stream& stream);
/// The type of a grey-level image or volume: u8, u16 or f32.
[[nodiscard]] constexpr bool is_grey(PixelType type) noexcept {
  return type == PixelType::u8 || type == PixelType::u16 || type == PixelType::f32;
}
void check_grey(const char* stage, const char* what, PixelType type);
/// The pixel types of a registration: all but c32.
void check_real(const char* stage, const char* what, PixelType type);
/// No entry of the matrix may be infinite or NaN.
void check_transform(const char* stage, const HomogeneousMatrix& transform);
/// There must be one transform for each array of a batch, and each must pass check_transform().
void check_transforms(const char* stage, std::span<const HomogeneousMatrix> transforms,
                      std::int64_t batch);
/// The output must be writable, and must not overlap the input in memory.
void check_distinct(const char* stage, const Image& image, const Image& output);

}  // namespace warpalign::detail
