// Test pictures: a smooth random texture, drawn at any coordinates without resampling.
#pragma once

#include "io/image_file.hpp"

#include <warpalign/geometry.hpp>

#include <cstdint>

namespace warpalign::test {

struct Texture {
  std::uint32_t seed = 1;
  /// Values are 0 to 1, with detail down to about 4 pixels.
  [[nodiscard]] double operator()(Point p) const;
};

/// pixel(p) = texture(place(p)), scaled to the type's whole range (0 to 1 for f32). The channels
/// of a colour image differ.
[[nodiscard]] program::LoadedImage draw(const Texture& texture, const Shape& shape, int channels,
                                        PixelType type, const Homography& place = {});

}  // namespace warpalign::test
