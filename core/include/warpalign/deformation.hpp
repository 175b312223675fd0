// What a deformable registration reports about its result.
#pragma once

#include <warpalign/transform.hpp>

namespace warpalign {

/// A free-form deformation on a cubic B-spline grid (Rueckert et al. 1999) that follows an affine
/// transform, and measures of it. The field is defined on the whole reference.
struct Deformation {
  /// From pixels (voxels) of the reference to those of the moving image: a chain of the B-spline
  /// and the affine transform, so that the point p is mapped to A(p + u(p)).
  Transform transform;
  /// The mean correlation of small windows of the reference and the warped moving image, 5 pixels
  /// wide, -1 to 1, with the affine transform alone. If the affine step compared another modality,
  /// the root of the mean of its square, which the deformation then maximises (Avants et al. 2008).
  double correlation_before = 0;
  /// The same correlation with the deformation, -1 to 1.
  double correlation = 0;
  /// The least factor by which the B-spline changes areas (volumes), over all pixels of the
  /// reference: the determinant of its Jacobian matrix. It is above 0: the field does not fold.
  double min_jacobian = 1;
  /// The greatest factor by which the B-spline changes areas (volumes).
  double max_jacobian = 1;
  double extreme_jacobians = 0;  ///< the share of pixels with a factor below 0.3 or above 3
};

}  // namespace warpalign
