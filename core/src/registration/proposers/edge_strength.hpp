// The edge strength of an image, as an image.
#pragma once

#include "registration/pair/level_pair.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace warpalign::detail {

/// Computes the gradient magnitude of each pixel of an image of `shape` by central differences; 0
/// if a neighbour is masked. `counts` is 0 for masked pixels, or empty if there is no mask.
void gradient_lengths(const Shape& shape, std::span<const float> values,
                      std::span<const float> counts, std::vector<float>& lengths);

/// Coarse levels of an image lose thin structures such as the strokes on a whiteboard, but not the
/// local density of edges. This class computes edge strength images of a pair, each with a pyramid.
class EdgeStrength {
 public:
  explicit EdgeStrength(const Device& device) : device_(device) {}

  /// Returns the edge strength images of the pair, with the same aspect ratios. Returns nothing if
  /// one of them is constant. Waits for the device. The result is valid until the next call.
  std::optional<PairContext> of(const PairContext& work);
  /// Converts a transform between the edge strength images to one between the images of the pair.
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
