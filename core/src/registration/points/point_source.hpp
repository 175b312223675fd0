// A point source: a star, a bead, a single molecule.
#pragma once

#include <warpalign/geometry.hpp>

#include <vector>

namespace warpalign::detail {

/// A bright spot of the width of the point spread function.
struct PointSource {
  Point place;          ///< in pixels of the image
  double variance = 0;  ///< of the place along each axis, in square pixels
  double snr = 0;       ///< integrated signal-to-noise ratio: of the matched filter
};

/// The point sources of an image, brightest first.
struct PointSources {
  std::vector<PointSource> sources;
  double sigma = 0;  ///< of the Gaussian that approximates the point spread function, in pixels
};

}  // namespace warpalign::detail
