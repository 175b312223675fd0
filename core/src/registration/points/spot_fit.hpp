// Fits a Gaussian spot to the pixels around a place.
#pragma once

#include "registration/points/pixel_plane.hpp"

#include <warpalign/geometry.hpp>

#include <optional>

namespace warpalign::detail {

struct Spot {
  Point place;
  double sigma = 0;
  double height = 0;  ///< of the maximum over the background
  double background = 0;
  double variance = 0;  ///< of the place along each axis, by the residuals of the fit
  double height_deviation = 0;
  /// The sum of squared residuals beyond what the noise explains, as a fraction of the sum of
  /// squares of the spot. Large for shapes that are no spot.
  double misfit = 0;
};

struct SpotFit {
  double sigma;       ///< of the spot, or where the fit begins
  bool fits_sigma;    ///< whether sigma is a parameter
  double noise;       ///< standard deviation of the noise of a pixel
  double saturation;  ///< several pixels of this value or more are left out
};

/// Fits height, background, place and, if `fits_sigma`, sigma by least squares to the pixels within
/// 2.5 sigma and one more pixel of `start`. Nothing if the fit diverges or leaves the place, or if
/// too many pixels are ignored.
[[nodiscard]] std::optional<Spot> fit_spot(const PixelPlane& plane, Point start,
                                           const SpotFit& options);

}  // namespace warpalign::detail
