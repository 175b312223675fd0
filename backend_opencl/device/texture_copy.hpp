// A texture that holds a copy of a stage's input.
#pragma once

#include "device/kernel.hpp"
#include "device/texture.hpp"

#include <cstdint>
#include <optional>

namespace warpalign::opencl {

/// A kernel writes two-dimensional images if the device allows that. The driver's copy fills all
/// others; with NVIDIA's driver it takes several times as long.
class TextureCopy {
 public:
  TextureCopy(Context& context, const TextureKind& kind, const std::string& stage);

  /// Enqueues the copy of the whole texture from array number `array` of a buffer of arrays of its
  /// shape.
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
