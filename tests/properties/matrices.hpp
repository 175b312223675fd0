// Random transforms between two images.
#pragma once

#include "properties/trial.hpp"

#include <warpalign/geometry.hpp>

namespace properties {

/// A similarity with any angle between images whose overlap is most of their area; or a homography
/// close to one that maps no point of the reference to infinity.
inline warpalign::Homography some_matrix(Random& random, const warpalign::Shape& reference,
                                         const warpalign::Shape& moving, bool projective) {
  const warpalign::Similarity similarity{
      random.real(-180, 180), random.real(0.8, 1.3), {random.real(-8, 8), random.real(-8, 8)}};
  const warpalign::Homography matrix = similarity.matrix(reference, moving);
  if (!projective) return matrix;
  return matrix * warpalign::Homography({1, random.real(-0.1, 0.1), 0, 0, 1, 0,
                                         random.real(-1e-3, 1e-3), random.real(-1e-3, 1e-3), 1});
}

}  // namespace properties
