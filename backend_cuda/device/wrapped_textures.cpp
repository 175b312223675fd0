// Textures over images in the caller's memory.
#include "device/wrapped_textures.hpp"

#include "device/errors.hpp"
#include "device/texture.hpp"

#include <cstdint>
#include <utility>

namespace warpalign::cuda {
namespace {

constexpr std::size_t max_kept = 1024;

void destroy(const WrappedTextures::Textures& textures) noexcept {
  for (const DeviceMemory::Texture& texture : textures) {
    static_cast<void>(cudaDestroyTextureObject(texture.object));
  }
}

}  // namespace

WrappedTextures::~WrappedTextures() {
  context_.activate_quietly();
  static_cast<void>(cudaDeviceSynchronize());  // kernels may still read through them
  for (const auto& [key, textures] : kept_) destroy(*textures);
}

std::shared_ptr<const WrappedTextures::Textures> WrappedTextures::over(void* address,
                                                                       PixelType type,
                                                                       const Shape& shape) {
  const bool aligned = reinterpret_cast<std::uintptr_t>(address) % context_.texture_alignment == 0;
  const std::vector<DeviceMemory::ImageView> views = texture_views(context_, type, shape);
  if (!aligned || views.empty()) return std::make_shared<const Textures>();
  const std::lock_guard lock(mutex_);
  const Key key{address, type, shape.width, shape.height};
  if (const auto found = kept_.find(key); found != kept_.end()) return found->second;
  if (kept_.size() >= max_kept) make_room();
  auto made = std::make_shared<Textures>();
  made->reserve(views.size());
  try {
    for (const DeviceMemory::ImageView& view : views) {
      made->push_back({view, make_linear_texture(address, view, CallSite{context_, "wrap"})});
    }
    kept_.emplace(key, made);
  } catch (...) {
    destroy(*made);
    throw;
  }
  return made;
}

void WrappedTextures::make_room() {
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize", CallSite{context_, "wrap"});
  std::erase_if(kept_, [](const auto& entry) {
    if (entry.second.use_count() > 1) return false;
    destroy(*entry.second);
    return true;
  });
}

}  // namespace warpalign::cuda
