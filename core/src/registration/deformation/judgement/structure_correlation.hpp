// How well the structure of two aligned images agrees, with and without their outlines.
#pragma once

#include <warpalign/pixel.hpp>

#include <span>

namespace warpalign::detail {

/// Correlations within windows, 5 pixels wide, pooled: the sum of their covariances divided by the
/// root of the product of the sums of their variances. Unlike the mean of the windows'
/// correlations, this gives windows with more structure more weight, and windows without structure
/// none.
struct StructureCorrelation {
  double pooled = 0;  ///< of all windows, -1 to 1
  /// The same, -1 to 1, of the deviations from the outline's profile: from the mean intensity at
  /// the same distance from the outline, on either side of it, away from it. The outline of each
  /// image is the contour of its smoothed intensities at Otsu's threshold (Otsu 1979).
  double inner = 0;
  /// The part of the windows' variance that these deviations have: the larger one of both images.
  double inner_share = 0;
};

/// Both images have the same shape. `known`: 1, or 0 for pixels that are ignored. `valid`: 1 for
/// pixels about which windows count, else 0. `away`: deviations count farther from the outline than
/// this, in pixels.
[[nodiscard]] StructureCorrelation structure_correlation(std::span<const float> reference,
                                                         std::span<const float> warped,
                                                         std::span<const float> known,
                                                         std::span<const float> valid,
                                                         const Shape& shape, float away = 1);

}  // namespace warpalign::detail
