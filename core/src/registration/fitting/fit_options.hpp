// The options and the result of a Gauss-Newton fit.
#pragma once

#include <warpalign/geometry.hpp>
#include <warpalign/registrar.hpp>

namespace warpalign::detail {

/// The smallest illumination cell in use, and the largest that IlluminationPlan supports.
inline constexpr int min_illumination_cell = 8;
inline constexpr int max_illumination_cell = 64;

/// The model of a fit, and when the fit ends.
struct FitOptions {
  Motion motion = Motion::similarity;  ///< any but automatic
  int iterations = 10;                 ///< at most
  double tolerance = 0.001;  ///< moving pixels; the fit ends when no corner moves by more in a step
  double max_drift = 0.03;   ///< of a corner from the start, as a fraction of the larger side
  int illumination_cell = 0;  ///< side in reference pixels of the cells over which gain and offset
                              ///< vary; 0: one gain and offset for the whole image
  double illumination_noise = 0;  ///< with cells: the variance that noise adds to the images
};

struct FitResult {
  Homography matrix;
  bool converged = false;
  double last_move = 0;    ///< largest move of a corner in the last step, in moving pixels
  double correlation = 0;  ///< normalized, over the overlap at the start of the last step
  double pixels = 0;       ///< number of pixels in that overlap
};

}  // namespace warpalign::detail
