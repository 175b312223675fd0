// A float image that linear filtering reads, zero beyond its edges.
#pragma once

#include "opened_device.hpp"

namespace warpalign::opencl {

struct Texture {
  compute::image_object image;
  compute::image_sampler linear;
};

/// Whether the device's images can be that large.
[[nodiscard]] bool fits_texture(const OpenedDevice& device, std::int64_t width,
                                std::int64_t height);

/// Throws where the device has no images of one float channel.
[[nodiscard]] Texture make_texture(const OpenedDevice& device, std::int64_t width,
                                   std::int64_t height, const std::string& stage);

}  // namespace warpalign::opencl
