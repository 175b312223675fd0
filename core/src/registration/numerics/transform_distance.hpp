// Distances between the positions to which two transforms map the pixels of an image.
#pragma once

#include <warpalign/geometry.hpp>

namespace warpalign::detail {

/// The largest distance between the positions to which two transforms map the corners of `shape`.
/// For affine transforms this is the maximum over all points of `shape`.
[[nodiscard]] double corner_distance(const Affine& a, const Affine& b, const Shape& shape);
[[nodiscard]] double corner_distance(const Homography& a, const Homography& b, const Shape& shape);

/// The root mean square distance over the grid points of `shape` that `b` maps into `moving`, or
/// corner_distance() if there are none. Unlike the corners, these points lie in the overlap: a
/// homography's values outside of it, or at its edges without texture, do not describe the fit.
[[nodiscard]] double common_distance(const Homography& a, const Homography& b, const Shape& shape,
                                     const Shape& moving);

}  // namespace warpalign::detail
