// How far apart two transforms place the pixels of an image.
#pragma once

#include <warpalign/geometry.hpp>

namespace warpalign::detail {

/// The largest distance between the positions to which two transforms map the corners of `shape`.
/// Between affine transforms no other point of `shape` is farther apart.
[[nodiscard]] double corner_distance(const Affine& a, const Affine& b, const Shape& shape);
[[nodiscard]] double corner_distance(const Homography& a, const Homography& b, const Shape& shape);

/// The root mean square distance at those grid points of `shape` that `b` maps into `moving`, and
/// corner_distance() where there is none. What a homography does outside of the part in common, and
/// where there is no texture at its edges, says nothing about the fit.
[[nodiscard]] double common_distance(const Homography& a, const Homography& b, const Shape& shape,
                                     const Shape& moving);

}  // namespace warpalign::detail
