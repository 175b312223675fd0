// Device memory, and textures over it.
#include "device/memory.hpp"

#include "device/errors.hpp"
#include "device/foreign.hpp"
#include "device/texture.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace warpalign::cuda {

DeviceMemory::DeviceMemory(const CallSite& site, std::size_t bytes) : context_(site.context) {
  context_.activate();
  const MemoryPool::Block block = context_.pool->take(bytes, site);
  data_ = block.address;
  bytes_ = block.bytes;
}

DeviceMemory::DeviceMemory(const Context& context, void* address,
                           std::shared_ptr<const std::vector<Texture>> textures)
    : context_(context), data_(address), wrapped_(std::move(textures)) {}

DeviceMemory::~DeviceMemory() {
  if (wrapped_) return;
  context_.activate_quietly();
  context_.pool->give_back({data_, bytes_}, std::move(textures_));
}

void DeviceMemory::make_textures(PixelType type, const Shape& shape, const CallSite& site) {
  for (const ImageView& view : texture_views(site.context, type, shape)) {
    static_cast<void>(texture(view, site));
  }
}

cudaTextureObject_t DeviceMemory::texture(const ImageView& view, const CallSite& site) const {
  if (wrapped_) {
    for (const Texture& texture : *wrapped_) {
      if (texture.view == view) return texture.object;
    }
    refuse_unowned(context_,
                   "the image cannot be sampled by texture lookups, for which the device needs "
                   "memory that begins at a multiple of " +
                       std::to_string(context_.texture_alignment) + " bytes",
                   "use Precision::full, or align the memory");
  }
  const std::scoped_lock lock(mutex_);
  const auto found = std::find(views_.begin(), views_.end(), view);
  if (found != views_.end()) return textures_[static_cast<std::size_t>(found - views_.begin())];
  textures_.reserve(textures_.size() + 1);  // so that push_back() cannot throw and leak the texture
  views_.reserve(views_.size() + 1);
  textures_.push_back(make_linear_texture(data_, view, site));
  views_.push_back(view);
  return textures_.back();
}

// `warp`, `interpolate` and `complex_bilinear` read planes in place if the rows are aligned;
// complex planes are read with and without filtering.
std::vector<DeviceMemory::ImageView> texture_views(const Context& context, PixelType type,
                                                   const Shape& shape) {
  const bool is_complex = type == PixelType::c32;
  if ((type != PixelType::f32 && !is_complex) || shape.depth != 1) return {};
  const auto width = static_cast<std::size_t>(shape.width);
  const auto height = static_cast<std::size_t>(shape.height);
  if (!fits_linear(context, width, height, size_of(type))) return {};
  if (!is_complex) return {{width, height, 1, true}};
  return {{width, height, 2, true}, {width, height, 2, false}};
}

cudaTextureObject_t make_linear_texture(void* address, const DeviceMemory::ImageView& view,
                                        const CallSite& site) {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypePitch2D;
  resource.res.pitch2D.devPtr = address;
  resource.res.pitch2D.desc = {32, view.channels == 2 ? 32 : 0, 0, 0, cudaChannelFormatKindFloat};
  resource.res.pitch2D.width = view.width;
  resource.res.pitch2D.height = view.height;
  resource.res.pitch2D.pitchInBytes =
      view.width * static_cast<std::size_t>(view.channels) * sizeof(float);
  return make_texture(resource, {.linear = view.linear, .border = true}, site);
}

}  // namespace warpalign::cuda
