// Copies images from the device to the host.
#pragma once

#include <warpalign/device.hpp>

#include <cstddef>
#include <vector>

namespace warpalign::detail {

/// Copies an f32 image of one slice, row-major. Waits for the device.
inline void copy_to_host(Stream& stream, const Image& image, std::vector<float>& values) {
  values.resize(static_cast<std::size_t>(image.shape().plane()));
  stream.download(image, values.data(), values.size() * sizeof(float));
}

}  // namespace warpalign::detail
