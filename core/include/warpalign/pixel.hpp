// Pixel types, shapes, and views of pixels in host memory.
#pragma once

#include <warpalign/export.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

namespace warpalign {

/// The type of one pixel.
enum class PixelType {
  u8,   ///< unsigned 8-bit integer
  i8,   ///< signed 8-bit integer
  u16,  ///< unsigned 16-bit integer
  i16,  ///< signed 16-bit integer
  u32,  ///< unsigned 32-bit integer
  i32,  ///< signed 32-bit integer
  f16,  ///< IEEE half precision, 2 bytes
  f32,  ///< IEEE single precision
  f64,  ///< IEEE double precision
  c32   ///< complex, two f32 (real, imaginary): 8 bytes
};

/// The size of one pixel in bytes: 1, 2, 4 or 8.
[[nodiscard]] WARPALIGN_API std::size_t size_of(PixelType type) noexcept;
/// The name of a type: "u8", "i8", "u16", "i16", "u32", "i32", "f16", "f32", "f64" or "c32".
[[nodiscard]] WARPALIGN_API const char* name_of(PixelType type) noexcept;

/// The extent of an array in pixels. Arrays are row-major: x (width) varies fastest, then
/// y (height), then z (depth). A batch of images or volumes is a stack along `depth`; stacked()
/// gives its shape.
struct Shape {
  std::int64_t width = 0;   ///< in pixels, along x
  std::int64_t height = 0;  ///< in pixels, along y
  std::int64_t depth = 1;   ///< in pixels, along z; 1 for a single image

  /// The number of pixels.
  [[nodiscard]] constexpr std::int64_t pixels() const noexcept { return width * height * depth; }
  /// The number of pixels in one slice.
  [[nodiscard]] constexpr std::int64_t plane() const noexcept { return width * height; }
  friend constexpr bool operator==(const Shape&, const Shape&) = default;
};

/// The shape of a batch: `count` arrays of one shape, one after the other in memory. Lines (one
/// dimension) are the rows of an image, so they multiply its height; images and volumes (two and
/// three dimensions) multiply the depth.
[[nodiscard]] constexpr Shape stacked(const Shape& array, int dimensions,
                                      std::int64_t count) noexcept {
  return dimensions == 1 ? Shape{array.width, array.height * count, array.depth}
                         : Shape{array.width, array.height, array.depth * count};
}

/// "640 x 480" (width x height), followed by " x depth" unless the depth is 1. Never throws Error.
[[nodiscard]] WARPALIGN_API std::string to_string(const Shape& shape);

/// A read-only view of a 2-D image in host memory. The view owns nothing.
struct HostImage {
  const void* data = nullptr;      ///< the first pixel of the first row
  PixelType type = PixelType::u8;  ///< the type of every pixel
  std::int64_t width = 0;          ///< in pixels
  std::int64_t height = 0;         ///< in pixels
  std::int64_t row_bytes = 0;      ///< bytes from one row to the next; 0 means dense rows

  /// The extents; the depth is 1.
  [[nodiscard]] Shape shape() const noexcept { return {width, height, 1}; }
};

/// A read-only view of a dense volume in host memory. The view owns nothing.
struct HostVolume {
  const void* data = nullptr;      ///< the first voxel; all others follow densely
  PixelType type = PixelType::u8;  ///< the type of every voxel
  Shape shape;                     ///< (width, height, depth) in voxels
};

}  // namespace warpalign
