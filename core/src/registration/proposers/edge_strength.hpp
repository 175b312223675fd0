// How strong the edges in an image are, as an image of its own.
#pragma once

#include "registration/pair/level_pair.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace warpalign::detail {

/// The length of the gradient at each pixel of an image of `shape`, by central differences; 0 where
/// a neighbour does not count. `counts` may be empty: then all pixels count.
void gradient_lengths(const Shape& shape, std::span<const float> values,
                      std::span<const float> counts, std::vector<float>& lengths);

/// Thin things, such as the strokes on a whiteboard, are lost on coarse levels of an image, but how
/// many edges are where is not. This is a pair of images that show it, each with a pyramid.
class EdgeStrength {
 public:
  explicit EdgeStrength(const Device& device) : device_(device) {}

  /// The pair's strengths of edges, as a pair of images of the same proportions. Nothing where an
  /// image has the same everywhere. Waits for the device. Valid until the next call.
  std::optional<PairContext> of(const PairContext& work);
  /// A transform between these images as one between the images of the pair.
  [[nodiscard]] Homography to_images(const Homography& m) const {
    return Homography(moving_.to_image) * m * reference_.to_image.inverse();
  }

 private:
  struct Side {
    std::optional<ImagePyramid> pyramid;
    Affine to_image;
  };
  bool take(const PairContext& work, ImagePyramid& pyramid, double spacing, Side& side);

  Device device_;
  Side reference_, moving_;
  std::vector<float> values_, counts_, lengths_;
  std::vector<std::uint8_t> mask_;
};

}  // namespace warpalign::detail
