// Device memory, and textures over it.
#include "device/memory.hpp"

#include "device/errors.hpp"
#include "device/texture.hpp"

namespace warpalign::cuda {

DeviceMemory::DeviceMemory(const CallSite& site, std::size_t bytes) : context_(site.context) {
  context_.activate();
  check_allocation(cudaMalloc(&data_, bytes), "cudaMalloc", bytes, site);
}

DeviceMemory::~DeviceMemory() {
  context_.activate_quietly();
  // The memory is freed first, because cudaFree waits for kernels that may still read through the
  // textures.
  static_cast<void>(cudaFree(data_));
  for (const Texture& texture : textures_) {
    static_cast<void>(cudaDestroyTextureObject(texture.object));
  }
}

// `warp`, `interpolate` and `complex_bilinear` read planes in place where the rows are aligned;
// complex planes are read with and without filtering.
void DeviceMemory::make_textures(PixelType type, const Shape& shape, const CallSite& site) {
  const bool is_complex = type == PixelType::c32;
  if ((type != PixelType::f32 && !is_complex) || shape.depth != 1) return;
  const auto width = static_cast<std::size_t>(shape.width);
  const auto height = static_cast<std::size_t>(shape.height);
  if (!fits_linear(site.context, width, height, size_of(type))) return;
  const int channels = is_complex ? 2 : 1;
  static_cast<void>(texture({width, height, channels, true}, site));
  if (is_complex) static_cast<void>(texture({width, height, channels, false}, site));
}

cudaTextureObject_t DeviceMemory::texture(const ImageView& view, const CallSite& site) const {
  const std::scoped_lock lock(mutex_);
  for (const Texture& texture : textures_) {
    if (texture.view == view) return texture.object;
  }
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypePitch2D;
  resource.res.pitch2D.devPtr = data_;
  resource.res.pitch2D.desc = {32, view.channels == 2 ? 32 : 0, 0, 0, cudaChannelFormatKindFloat};
  resource.res.pitch2D.width = view.width;
  resource.res.pitch2D.height = view.height;
  resource.res.pitch2D.pitchInBytes =
      view.width * static_cast<std::size_t>(view.channels) * sizeof(float);
  const TextureReading reading{.linear = view.linear, .border = true};
  textures_.reserve(textures_.size() + 1);  // so that push_back() cannot throw and leak the texture
  textures_.push_back({view, make_texture(resource, reading, site)});
  return textures_.back().object;
}

}  // namespace warpalign::cuda
