// Textures over arrays that hold a copy of a stage's input, and over linear memory.
#include "device/texture.hpp"

#include "device/errors.hpp"
#include "device/queue.hpp"

#include <algorithm>

namespace warpalign::cuda {

cudaTextureObject_t make_texture(const cudaResourceDesc& resource, const TextureReading& reading,
                                 const CallSite& site) {
  cudaTextureDesc description{};
  for (auto& mode : description.addressMode) {
    mode = reading.border ? cudaAddressModeBorder : cudaAddressModeClamp;  // the border colour is 0
  }
  description.filterMode = reading.linear ? cudaFilterModeLinear : cudaFilterModePoint;
  description.readMode = cudaReadModeElementType;
  description.normalizedCoords = 0;
  cudaTextureObject_t object = 0;
  check(cudaCreateTextureObject(&object, &resource, &description, nullptr),
        "cudaCreateTextureObject", site);
  site.context.count_allocation();
  return object;
}

TextureArray::TextureArray(const CallSite& site, Size size, int channels,
                           const TextureReading& reading)
    : site_(site), size_(size), texel_bytes_(static_cast<std::size_t>(channels) * sizeof(float)) {
  site_.context.activate();
  const int second = channels >= 2 ? 32 : 0;
  const int others = channels == 4 ? 32 : 0;
  const cudaChannelFormatDesc format{32, second, others, others, cudaChannelFormatKindFloat};
  const std::size_t texels =
      size.width * std::max<std::size_t>(size.height, 1) * std::max<std::size_t>(size.depth, 1);
  const cudaExtent extent{size.width, size.height, size.depth};
  const bool written = channels == 1 && size.height > 0;
  const unsigned flags = written ? cudaArraySurfaceLoadStore : cudaArrayDefault;
  check_allocation(cudaMalloc3DArray(&array_, &format, extent, flags), "cudaMalloc3DArray",
                   texels * texel_bytes_, site);
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array_;
  try {
    texture_ = make_texture(resource, reading, site);
    if (written) {
      load_surface_kernels(site);
      check(cudaCreateSurfaceObject(&surface_, &resource), "cudaCreateSurfaceObject", site);
    }
  } catch (...) {
    if (texture_ != 0) static_cast<void>(cudaDestroyTextureObject(texture_));
    static_cast<void>(cudaFreeArray(array_));
    throw;
  }
}

TextureArray::~TextureArray() {
  site_.context.activate_quietly();
  static_cast<void>(cudaFreeArray(array_));  // waits for the kernels that use it
  static_cast<void>(cudaDestroyTextureObject(texture_));
  if (surface_ != 0) static_cast<void>(cudaDestroySurfaceObject(surface_));
}

void TextureArray::copy_from(const void* source, const backend::Queue& queue) const {
  if (surface_ != 0) {
    write_surface(site_, queue, static_cast<const float*>(source), surface_, size_);
    return;
  }
  const std::size_t row_bytes = size_.width * texel_bytes_;
  const std::size_t rows = std::max<std::size_t>(size_.height, 1);
  cudaMemcpy3DParms parameters{};
  parameters.srcPtr = {const_cast<void*>(source), row_bytes, size_.width, rows};
  parameters.dstArray = array_;
  parameters.extent = {size_.width, rows, std::max<std::size_t>(size_.depth, 1)};
  parameters.kind = cudaMemcpyDeviceToDevice;
  check(cudaMemcpy3DAsync(&parameters, stream_of(queue)), "cudaMemcpy3DAsync", site_);
}

bool fits_array(const Context& context, const TextureArray::Size& size) noexcept {
  if (size.depth == 0) {
    return size.width <= context.array_texture_limit[0] &&
           size.height <= context.array_texture_limit[1];
  }
  return size.width <= context.volume_texture_limit[0] &&
         size.height <= context.volume_texture_limit[1] &&
         size.depth <= context.volume_texture_limit[2];
}

bool fits_linear(const Context& context, std::size_t width, std::size_t height,
                 std::size_t texel_bytes) noexcept {
  const std::size_t pitch = width * texel_bytes;
  return pitch % context.texture_pitch_alignment == 0 && width <= context.linear_texture_limit[0] &&
         height <= context.linear_texture_limit[1] && pitch <= context.linear_texture_limit[2];
}

}  // namespace warpalign::cuda
