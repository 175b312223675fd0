// Device memory, and textures over it.
#pragma once

#include "device/context.hpp"

#include <warpalign/backend/memory.hpp>
#include <warpalign/pixel.hpp>

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace warpalign::cuda {

class DeviceMemory final : public backend::Memory {
 public:
  /// A dense image of floats at the start of this memory, read through a texture that is 0 outside.
  struct ImageView {
    std::size_t width;
    std::size_t height;
    int channels = 1;    ///< 1 or 2 floats per texel
    bool linear = true;  ///< whether lookups are filtered bilinearly
    friend bool operator==(const ImageView&, const ImageView&) = default;
  };
  struct Texture {
    ImageView view;
    cudaTextureObject_t object;
  };

  DeviceMemory(const CallSite& site, std::size_t bytes);
  /// Wraps the caller's memory, with textures that this object does not own.
  DeviceMemory(const Context& context, void* address,
               std::shared_ptr<const std::vector<Texture>> textures);
  ~DeviceMemory() override;

  template <class T>
  [[nodiscard]] T* as() const noexcept {
    return static_cast<T*>(data_);
  }

  [[nodiscard]] backend::NativeHandle native() const noexcept override { return data_; }
  [[nodiscard]] backend::Location location() const noexcept override {
    return {nullptr, reinterpret_cast<std::uintptr_t>(data_)};
  }

  /// Returns the texture of a view: the one that make_textures() made, or else a new one. It lives
  /// as long as the memory, because a kernel in flight may still read through it. Throws
  /// Error(invalid_argument) if the caller's memory is not aligned for textures.
  [[nodiscard]] cudaTextureObject_t texture(const ImageView& view, const CallSite& site) const;

  /// Makes the textures that stages may need for an image that fills this memory.
  void make_textures(PixelType type, const Shape& shape, const CallSite& site);

 private:
  const Context& context_;
  void* data_ = nullptr;
  std::size_t bytes_ = 0;  ///< of the block; 0 for the caller's memory
  mutable std::mutex mutex_;
  mutable std::vector<ImageView> views_;                 ///< parallel to textures_
  mutable std::vector<cudaTextureObject_t> textures_;    ///< over memory that this object owns
  std::shared_ptr<const std::vector<Texture>> wrapped_;  ///< null for memory that this object owns
};

/// The views through which stages read an image; empty if the image's memory does not allow
/// textures.
[[nodiscard]] std::vector<DeviceMemory::ImageView> texture_views(const Context& context,
                                                                 PixelType type,
                                                                 const Shape& shape);
/// A texture over linear memory.
[[nodiscard]] cudaTextureObject_t make_linear_texture(void* address,
                                                      const DeviceMemory::ImageView& view,
                                                      const CallSite& site);

/// A typed pointer to the start of memory that this backend allocated or wrapped.
template <class T>
[[nodiscard]] const T* data(const backend::Memory& memory) noexcept {
  return static_cast<const DeviceMemory&>(memory).as<const T>();
}
template <class T>
[[nodiscard]] T* data(backend::Memory& memory) noexcept {
  return static_cast<DeviceMemory&>(memory).as<T>();
}

}  // namespace warpalign::cuda
