// The overlap of two tiles between which a pair's transform is known.
#pragma once

#include "mosaic/rotated_placement.hpp"

#include <warpalign/geometry.hpp>
#include <warpalign/pixel.hpp>
#include <warpalign/registrar.hpp>

#include <array>

namespace warpalign::detail {

/// The part of the moving tile, parallel to its axes, that the reference tile shows as well.
struct RotatedOverlap {
  Point middle;  ///< in the moving tile, as the corners
  std::array<Point, overlap_corners> corners;
};

/// `moving_to_reference` hardly turns, so that the overlap is that of shifted tiles.
[[nodiscard]] RotatedOverlap rotated_overlap(const Homography& moving_to_reference,
                                             const Shape& reference, const Shape& moving);

/// How certain the places of points are to which a transform between two images maps.
struct RotatedCovariances {
  Covariance middle;
  std::array<Covariance, overlap_corners> corners;
};

/// The covariances of the places of an overlap's points, in square pixels, as shift_covariance()
/// has it: the variance of what the images do not share, times the inverse of the Gauss-Newton
/// matrix of the motion's parameters, from at most about 16000 pixels. The points are those of the
/// reference.
[[nodiscard]] RotatedCovariances rotated_covariances(const HostImage& reference,
                                                     const HostImage& moving,
                                                     const Homography& reference_to_moving,
                                                     Motion motion, const RotatedOverlap& points);

}  // namespace warpalign::detail
