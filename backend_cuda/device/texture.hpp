// Textures over arrays that a stage copies its input to, and over linear memory.
#pragma once

#include "device/context.hpp"

#include <warpalign/backend/queue.hpp>

#include <cuda_runtime_api.h>

#include <cstddef>

namespace warpalign::cuda {

/// Blocks of kernels with one lookup a pixel: a warp covers 8 x 4 pixels at a time, which keeps the
/// texels of a rotated picture together, and goes on to the right; a block covers 32 x 32.
struct LookupBlock {
  static constexpr int width = 8;
  static constexpr int height = 32;
  static constexpr int pixels_a_thread = 4;
  static constexpr int tile_width = width * pixels_a_thread;
};

/// How a texture is read; coordinates in texels always, 0 (`border`) or the edge beyond the array.
struct TextureReading {
  bool linear = true;  ///< filtered, or the texel's own value
  bool border = true;
};

[[nodiscard]] cudaTextureObject_t make_texture(const cudaResourceDesc& resource,
                                               const TextureReading& reading, const CallSite& site);

/// An array of 1, 2 or 4 floats a texel, and a texture over it. Height 0: one dimension; depth 0:
/// two.
class TextureArray {
 public:
  struct Size {
    std::size_t width;
    std::size_t height;
    std::size_t depth;
  };
  TextureArray(const CallSite& site, Size size, int channels, const TextureReading& reading);
  TextureArray(const TextureArray&) = delete;
  TextureArray& operator=(const TextureArray&) = delete;
  ~TextureArray();

  /// Enqueues a copy of dense device memory of the array's size.
  void copy_from(const void* source, const backend::Queue& queue) const;

  [[nodiscard]] cudaTextureObject_t texture() const noexcept { return texture_; }

 private:
  CallSite site_;
  Size size_;
  std::size_t texel_bytes_;
  cudaArray_t array_ = nullptr;
  cudaTextureObject_t texture_ = 0;
  cudaSurfaceObject_t surface_ = 0;  ///< of planes and volumes of single floats
};

/// Enqueues a copy of dense floats to an array of that size, through a surface over it: two to
/// three times as fast as the runtime's own.
void write_surface(const CallSite& site, const backend::Queue& queue, const float* source,
                   cudaSurfaceObject_t surface, const TextureArray::Size& size);
/// Loads the kernels for that.
void load_surface_kernels(const CallSite& site);

/// Whether the texture unit of the device takes an array.
[[nodiscard]] bool fits_array(const Context& context, const TextureArray::Size& size) noexcept;
/// Whether it reads dense linear memory of rows of `width` texels in place.
[[nodiscard]] bool fits_linear(const Context& context, std::size_t width, std::size_t height,
                               std::size_t texel_bytes) noexcept;

}  // namespace warpalign::cuda
