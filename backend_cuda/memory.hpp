// Device memory, and textures over it.
#pragma once

#include "context.hpp"

#include <warpalign/backend/memory.hpp>

#include <cuda_runtime_api.h>

#include <mutex>
#include <vector>

namespace warpalign::cuda {

/// How textures are read everywhere here: bilinearly, 0 outside, coordinates in texels.
[[nodiscard]] cudaTextureObject_t make_texture(const cudaResourceDesc& resource,
                                               const Place& place);

class DeviceMemory final : public backend::Memory {
 public:
  DeviceMemory(const Place& place, std::size_t bytes);
  ~DeviceMemory() override;

  template <class T>
  [[nodiscard]] T* as() const noexcept {
    return static_cast<T*>(data_);
  }

  /// A texture over a dense f32 image at the start of this memory. Made once for each shape and
  /// kept as long as the memory, since a kernel in flight may still read through it.
  [[nodiscard]] cudaTextureObject_t texture(std::size_t width, std::size_t height,
                                            const Place& place) const;

 private:
  struct Texture {
    std::size_t width;
    std::size_t height;
    cudaTextureObject_t object;
  };

  const Context& context_;
  void* data_ = nullptr;
  mutable std::mutex mutex_;
  mutable std::vector<Texture> textures_;
};

/// The typed start of memory that this backend made.
template <class T>
[[nodiscard]] const T* data(const backend::Memory& memory) noexcept {
  return static_cast<const DeviceMemory&>(memory).as<const T>();
}
template <class T>
[[nodiscard]] T* data(backend::Memory& memory) noexcept {
  return static_cast<DeviceMemory&>(memory).as<T>();
}

}  // namespace warpalign::cuda
