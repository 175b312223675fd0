// Float images that the texture unit reads, zero beyond their edges.
#pragma once

#include "device/context.hpp"

namespace warpalign::opencl {

struct Texture {
  compute::image_object image;
  compute::image_sampler sampler;
};

struct TextureKind {
  Shape shape;
  int dimensions = 2;  ///< 2 or 3
  int channels = 1;    ///< 1 or 2 floats a pixel
  cl_filter_mode filter = CL_FILTER_LINEAR;
};

/// Whether the device has such images, that large.
[[nodiscard]] bool fits_texture(const Context& context, const TextureKind& kind);

/// Whether kernels may write such images.
[[nodiscard]] bool can_be_written(const Context& context, const TextureKind& kind);

/// Throws where the device has no such images.
[[nodiscard]] Texture make_texture(const Context& context, const TextureKind& kind,
                                   const std::string& stage);

}  // namespace warpalign::opencl
