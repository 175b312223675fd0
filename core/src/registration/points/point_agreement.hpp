// A transform on which the point sources of two images agree.
#pragma once

#include <warpalign/geometry.hpp>

namespace warpalign::detail {

/// A transform on which point sources agree.
struct PointAgreement {
  Affine matrix;        ///< a similarity: reference pixels -> moving pixels
  int matched = 0;      ///< pairs of sources that agree on the transform
  int common = 0;       ///< sources of the reference that the moving image should show
  double expected = 0;  ///< matches of unrelated sources, on average
  double z_score = 0;   ///< of as many matches by chance at one pose, beyond those that define it
  double trials = 1;    ///< the number of poses that were tried
  /// The most matches at another pose, as a fraction of these.
  double other_ratio = 0;
};

}  // namespace warpalign::detail
