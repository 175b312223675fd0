// Textures over images in the caller's memory.
//
// A program may wrap the same memory for every call, and may free it as soon as the device is done
// with it, which this library cannot know. The textures therefore outlive the object that wraps the
// memory: the cache keeps them by address, size and type, and reuses them when the program wraps
// the same memory again.
#pragma once

#include "device/memory.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <vector>

namespace warpalign::cuda {

class WrappedTextures {
 public:
  explicit WrappedTextures(const Context& context) : context_(context) {}
  WrappedTextures(const WrappedTextures&) = delete;
  WrappedTextures& operator=(const WrappedTextures&) = delete;
  ~WrappedTextures();

  using Textures = std::vector<DeviceMemory::Texture>;
  /// The textures that stages may need for such an image; empty if its address or its rows are not
  /// aligned as textures need. They exist as long as the result.
  [[nodiscard]] std::shared_ptr<const Textures> over(void* address, PixelType type,
                                                     const Shape& shape);

 private:
  using Key = std::tuple<void*, PixelType, std::int64_t, std::int64_t>;
  void make_room();

  const Context& context_;
  std::mutex mutex_;
  std::map<Key, std::shared_ptr<const Textures>> kept_;
};

}  // namespace warpalign::cuda
