// Small images of blobs under a known similarity, which every registration finds.
#pragma once

#include <warpalign/geometry.hpp>
#include <warpalign/pixel.hpp>

#include <cstdint>
#include <vector>

namespace test {

struct BlobImage {
  warpalign::Shape shape;
  std::vector<std::uint8_t> pixels;
  [[nodiscard]] warpalign::HostImage view() const {
    return {pixels.data(), warpalign::PixelType::u8, shape.width, shape.height, 0};
  }
};

/// Draws scene number `scene`. `to_scene` maps pixels to the scene.
[[nodiscard]] BlobImage draw_blobs(const warpalign::Shape& shape, const warpalign::Affine& to_scene,
                                   std::uint32_t scene = 7);
/// The same through a homography.
[[nodiscard]] BlobImage draw_blobs_projective(const warpalign::Shape& shape,
                                              const warpalign::Homography& to_scene,
                                              std::uint32_t scene = 7);

}  // namespace test
