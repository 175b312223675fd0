// Local features of an image: places with descriptors of what surrounds them.
#pragma once

#include "registration/similarity/grey_plane.hpp"

#include <warpalign/geometry.hpp>

#include <array>
#include <cstddef>
#include <vector>

namespace warpalign::detail {

/// A blob of an image, and a histogram of the gradients about it, which hardly depends on light,
/// rotation and scale.
struct LocalFeature {
  static constexpr std::size_t dimensions = 128;
  Point place;                                 ///< in pixels
  std::array<float, dimensions> descriptor{};  ///< of length 1
};

/// The scale-invariant features of Lowe (2004): extrema of differences of Gaussians in space and
/// scale, at most `maximum` of them, the strongest, and histograms of gradient directions, of whose
/// values the roots are taken (Arandjelovic & Zisserman 2012). `blur` is the sigma of the Gaussian
/// that the image was smoothed by already, in its pixels.
[[nodiscard]] std::vector<LocalFeature> local_features(const GreyPlane& image, double blur,
                                                       std::size_t maximum);

}  // namespace warpalign::detail
