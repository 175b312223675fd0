// Transforms between two images, of points about the centres of both.
#pragma once

#include <warpalign/geometry.hpp>
#include <warpalign/registrar.hpp>

namespace warpalign::detail {

/// The transform of points about the reference's centre to points about the moving image's, with 1
/// as its last number, from one of pixels.
[[nodiscard]] Homography about_centres(const Homography& pixels, const Shape& reference,
                                       const Shape& moving);

/// The transform of pixels, from the nine numbers of one about the centres.
[[nodiscard]] Homography in_pixels(const double* centred, const Shape& reference,
                                   const Shape& moving);

/// `found` as what `start` becomes by a motion: in single precision a rigid motion scales by up to
/// 1e-7, and a similarity shears by as much. Where the motion has four parameters or fewer, what
/// `found` does beyond it is left out; the reference's centre is mapped to where `found` maps it.
[[nodiscard]] Homography as_moved(const Homography& start, const Homography& found, Motion motion,
                                  const Shape& reference);

}  // namespace warpalign::detail
