// Copies between images on a device and the host.
#pragma once

#include <warpalign/device.hpp>

#include <span>
#include <vector>

namespace warpalign::detail {

/// All values of an f32 image. Waits for the copy.
[[nodiscard]] inline std::vector<float> downloaded(Stream& stream, const Image& image) {
  std::vector<float> values(image.size_bytes() / sizeof(float));
  stream.download(image, values.data(), image.size_bytes());
  return values;
}

/// Copies as many values as the image has.
inline void upload(Stream& stream, std::span<const float> values, Image& image) {
  stream.upload(values.data(), values.size_bytes(), image.buffer());
}

}  // namespace warpalign::detail
