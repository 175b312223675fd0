// Textures over arrays that hold a copy of a stage's input, and over linear memory.
#pragma once

#include "device/context.hpp"

#include <warpalign/backend/queue.hpp>

#include <cuda_runtime_api.h>

#include <cstddef>

namespace warpalign::cuda {

/// The block of kernels that do one lookup per pixel. A warp covers 8 x 4 pixels at a time, so that
/// the texels that a rotated image reads lie close together, and then moves to the right; a block
/// covers 32 x 32 pixels.
struct LookupBlock {
  static constexpr int width = 8;
  static constexpr int height = 32;
  static constexpr int pixels_per_thread = 4;
  static constexpr int tile_width = width * pixels_per_thread;
};

/// How a texture is read. Coordinates are in texels, not normalised. Outside the array the value is
/// 0 (`border`) or that of the edge.
struct TextureReading {
  bool linear = true;  ///< bilinear filtering; otherwise the value of the nearest texel
  bool border = true;
};

[[nodiscard]] cudaTextureObject_t make_texture(const cudaResourceDesc& resource,
                                               const TextureReading& reading, const CallSite& site);

/// An array of 1, 2 or 4 floats per texel, and a texture over it. A height of 0 means one
/// dimension, a depth of 0 means two.
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

  /// Enqueues a copy from dense device memory of the array's size.
  void copy_from(const void* source, const backend::Queue& queue) const;

  [[nodiscard]] cudaTextureObject_t texture() const noexcept { return texture_; }

 private:
  CallSite site_;
  Size size_;
  std::size_t texel_bytes_;
  cudaArray_t array_ = nullptr;
  cudaTextureObject_t texture_ = 0;
  cudaSurfaceObject_t surface_ = 0;  ///< of planes and volumes with one float per texel
};

/// Enqueues a copy of dense floats to an array of that size through a surface over it. This is two
/// to three times as fast as the runtime's own copy.
void write_surface(const CallSite& site, const backend::Queue& queue, const float* source,
                   cudaSurfaceObject_t surface, const TextureArray::Size& size);
/// Loads the kernels of write_surface().
void load_surface_kernels(const CallSite& site);

/// Whether the size is within the device's limits for textures over arrays.
[[nodiscard]] bool fits_array(const Context& context, const TextureArray::Size& size) noexcept;
/// Whether the texture unit can read dense linear memory with rows of `width` texels in place.
[[nodiscard]] bool fits_linear(const Context& context, std::size_t width, std::size_t height,
                               std::size_t texel_bytes) noexcept;

}  // namespace warpalign::cuda
