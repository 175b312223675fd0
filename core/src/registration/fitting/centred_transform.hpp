// Transforms between two images in coordinates relative to the images' centres.
#pragma once

#include <warpalign/geometry.hpp>
#include <warpalign/registrar.hpp>

namespace warpalign::detail {

/// Converts a transform of pixel coordinates to one of coordinates relative to the images' centres,
/// scaled so that its last element is 1.
[[nodiscard]] Homography about_centres(const Homography& pixels, const Shape& reference,
                                       const Shape& moving);

/// Converts the nine elements of a centred transform back to a transform of pixel coordinates.
[[nodiscard]] Homography in_pixels(const double* centred, const Shape& reference,
                                   const Shape& moving);

/// Projects `found` onto the transforms that differ from `start` by a motion of this kind, and
/// keeps the position of the reference's centre. This removes the rounding errors of single
/// precision, by which a rigid fit scales by up to 1e-7 and a similarity fit shears by as much.
/// Affine transforms and homographies are returned as they are.
[[nodiscard]] Homography project_onto_motion(const Homography& start, const Homography& found,
                                             Motion motion, const Shape& reference);

}  // namespace warpalign::detail
