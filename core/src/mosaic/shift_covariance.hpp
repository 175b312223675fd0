// How certain the shift between two tiles is.
#pragma once

#include <warpalign/geometry.hpp>
#include <warpalign/pixel.hpp>

namespace warpalign::detail {

/// A symmetric 2 x 2 matrix.
struct Covariance {
  double xx = 0;
  double xy = 0;
  double yy = 0;
};

/// The covariance of the shift between two images, in square pixels: the variance of what the
/// images do not share, times the inverse of the structure tensor of the overlap, as for the
/// Gauss-Newton fit of a shift. `reference_to_moving` is added to reference coordinates. At most
/// about 16000 pixels on a regular grid are evaluated. Where the texture leaves a direction
/// undetermined the variance is large, but finite.
[[nodiscard]] Covariance shift_covariance(const HostImage& reference, const HostImage& moving,
                                          const Point& reference_to_moving);

}  // namespace warpalign::detail
