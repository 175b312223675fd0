// A texture that a stage copies its input to.
#pragma once

#include "device/kernel.hpp"
#include "device/texture.hpp"

#include <cstdint>
#include <optional>

namespace warpalign::opencl {

/// Two-dimensional images are written by a kernel where the device can do so. All others are filled
/// by the driver's copy, which takes several times as long with NVIDIA's driver.
class TextureCopy {
 public:
  TextureCopy(Context& context, const TextureKind& kind, const std::string& stage);

  /// Enqueues the copy of the whole texture from a buffer of arrays of its shape, the array number
  /// `array`.
  void fill(cl_command_queue queue, cl_mem source, std::int64_t array = 0);

  [[nodiscard]] const Handle<cl_mem>& image() const { return texture_.image; }
  [[nodiscard]] cl_sampler sampler() const { return texture_.sampler.get(); }

 private:
  CallSite site_;
  Shape shape_;
  std::size_t pixel_bytes_;
  Texture texture_;
  Grid grid_;
  std::optional<Kernel> kernel_;
};

}  // namespace warpalign::opencl
