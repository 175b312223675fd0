// Device memory, and textures over it.
#pragma once

#include "device/context.hpp"

#include <warpalign/backend/memory.hpp>
#include <warpalign/pixel.hpp>

#include <cuda_runtime_api.h>

#include <mutex>
#include <vector>

namespace warpalign::cuda {

class DeviceMemory final : public backend::Memory {
 public:
  DeviceMemory(const CallSite& site, std::size_t bytes);
  ~DeviceMemory() override;

  template <class T>
  [[nodiscard]] T* as() const noexcept {
    return static_cast<T*>(data_);
  }

  /// A dense image of floats at the start of this memory, read through a texture that is 0 outside.
  struct ImageView {
    std::size_t width;
    std::size_t height;
    int channels = 1;    ///< 1 or 2 floats per texel
    bool linear = true;  ///< whether lookups are filtered bilinearly
    friend bool operator==(const ImageView&, const ImageView&) = default;
  };
  /// The texture of a view: the one that make_textures() made, or else one made now. It lives as
  /// long as the memory, since a kernel in flight may still read through it.
  [[nodiscard]] cudaTextureObject_t texture(const ImageView& view, const CallSite& site) const;

  /// Makes the textures that stages may need for an image that fills this memory.
  void make_textures(PixelType type, const Shape& shape, const CallSite& site);

 private:
  struct Texture {
    ImageView view;
    cudaTextureObject_t object;
  };

  const Context& context_;
  void* data_ = nullptr;
  mutable std::mutex mutex_;
  mutable std::vector<Texture> textures_;
};

/// A typed pointer to the start of memory that this backend allocated.
template <class T>
[[nodiscard]] const T* data(const backend::Memory& memory) noexcept {
  return static_cast<const DeviceMemory&>(memory).as<const T>();
}
template <class T>
[[nodiscard]] T* data(backend::Memory& memory) noexcept {
  return static_cast<DeviceMemory&>(memory).as<T>();
}

}  // namespace warpalign::cuda
