// Device memory, and textures over it.
#include "memory.hpp"

#include "errors.hpp"

namespace warpalign::cuda {

cudaTextureObject_t make_texture(const cudaResourceDesc& resource, const Place& place) {
  cudaTextureDesc description{};
  description.addressMode[0] = cudaAddressModeBorder;  // the border colour is 0
  description.addressMode[1] = cudaAddressModeBorder;
  description.filterMode = cudaFilterModeLinear;
  description.readMode = cudaReadModeElementType;
  description.normalizedCoords = 0;
  cudaTextureObject_t object = 0;
  check(cudaCreateTextureObject(&object, &resource, &description, nullptr),
        "cudaCreateTextureObject", place);
  return object;
}

DeviceMemory::DeviceMemory(const Place& place, std::size_t bytes) : context_(place.context) {
  context_.activate();
  check_allocation(cudaMalloc(&data_, bytes), "cudaMalloc", bytes, place);
}

DeviceMemory::~DeviceMemory() {
  context_.activate_quietly();
  // Memory first: cudaFree waits for the kernels that may still read through the textures.
  static_cast<void>(cudaFree(data_));
  for (const Texture& texture : textures_) {
    static_cast<void>(cudaDestroyTextureObject(texture.object));
  }
}

cudaTextureObject_t DeviceMemory::texture(std::size_t width, std::size_t height,
                                          const Place& place) const {
  const std::scoped_lock lock(mutex_);
  for (const Texture& texture : textures_) {
    if (texture.width == width && texture.height == height) return texture.object;
  }
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypePitch2D;
  resource.res.pitch2D.devPtr = data_;
  resource.res.pitch2D.desc = {32, 0, 0, 0, cudaChannelFormatKindFloat};
  resource.res.pitch2D.width = width;
  resource.res.pitch2D.height = height;
  resource.res.pitch2D.pitchInBytes = width * sizeof(float);
  textures_.reserve(textures_.size() + 1);  // so that the texture cannot be lost to bad_alloc
  textures_.push_back({width, height, make_texture(resource, place)});
  return textures_.back().object;
}

}  // namespace warpalign::cuda
