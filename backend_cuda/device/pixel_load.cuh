// Conversion of pixels of every type to floats. A c32 pixel becomes two floats, its components.
#pragma once

#include <warpalign/pixel.hpp>

#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>

namespace warpalign::cuda {

/// Calls make(Pixel{}) with the C++ type of a pixel type.
template <class Make>
auto with_pixel_type(PixelType type, Make make) {
  switch (type) {
    case PixelType::u8:
      return make(std::uint8_t{});
    case PixelType::u16:
      return make(std::uint16_t{});
    case PixelType::f16:
      return make(__half{});
    case PixelType::c32:
      return make(float2{});
    default:
      return make(float{});
  }
}

/// Calls make(Pixel{}) for the types of greyscale images: u8, u16 and f32.
template <class Make>
auto with_grey_type(PixelType type, Make make) {
  switch (type) {
    case PixelType::u8:
      return make(std::uint8_t{});
    case PixelType::u16:
      return make(std::uint16_t{});
    default:
      return make(float{});
  }
}

template <class Pixel>
inline constexpr int components_of = 1;
template <>
inline constexpr int components_of<float2> = 2;

__device__ __forceinline__ void to_floats(std::uint8_t pixel, float (&value)[1]) {
  value[0] = static_cast<float>(pixel);
}
__device__ __forceinline__ void to_floats(std::uint16_t pixel, float (&value)[1]) {
  value[0] = static_cast<float>(pixel);
}
__device__ __forceinline__ void to_floats(__half pixel, float (&value)[1]) {
  value[0] = __half2float(pixel);
}
__device__ __forceinline__ void to_floats(float pixel, float (&value)[1]) { value[0] = pixel; }
__device__ __forceinline__ void to_floats(float2 pixel, float (&value)[2]) {
  value[0] = pixel.x;
  value[1] = pixel.y;
}

/// Four pixels as one aligned word (for c32: two words, each aligned to 16 bytes).
template <class Pixel>
struct alignas(4 * sizeof(Pixel) < 16 ? 4 * sizeof(Pixel) : 16) FourPixels {
  Pixel pixel[4];
};

}  // namespace warpalign::cuda
