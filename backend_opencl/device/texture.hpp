// Float images that the texture unit reads; beyond their edges they are zero.
#pragma once

#include "device/context.hpp"

namespace warpalign::opencl {

struct Texture {
  Handle<cl_mem> image;
  Handle<cl_sampler> sampler;
};

struct TextureKind {
  Shape shape;
  int dimensions = 2;  ///< 2 or 3
  int channels = 1;    ///< 1 or 2 floats per pixel
  cl_filter_mode filter = CL_FILTER_LINEAR;
};

/// Whether the device supports images of this format and size.
[[nodiscard]] bool fits_texture(const Context& context, const TextureKind& kind);

/// Whether kernels may write such images.
[[nodiscard]] bool can_be_written(const Context& context, const TextureKind& kind);

/// Throws if the device has no such images.
[[nodiscard]] Texture make_texture(const Context& context, const TextureKind& kind,
                                   const std::string& stage);

}  // namespace warpalign::opencl
