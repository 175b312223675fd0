// Compares a step of a fit on the device with the oracle's, for the stage's test and its property.
#pragma once

#include "reference/plane.hpp"
#include "reference/refinement/compared_pair.hpp"

#include <warpalign/backend/stages/refinement/fit_step.hpp>
#include <warpalign/geometry.hpp>
#include <warpalign/registrar.hpp>

#include <cstddef>
#include <vector>

namespace test {

/// The two images of a fit, with one channel or two.
struct FittedImages {
  std::vector<reference::Plane> reference, coefficients;  ///< one for each channel
  bool masked = false;
  reference::Plane reference_weight, moving_weight;  ///< where `masked`

  [[nodiscard]] reference::ComparedPair pair(std::size_t channel) const;
};

/// The indices of the parameters that a motion estimates, among the four of a similarity or the
/// eight of a homography.
std::vector<std::size_t> free_parameters(warpalign::Motion motion);

/// The transform from reference pixels to moving pixels, as the device holds it.
warpalign::Homography matrix_of(const warpalign::FitRecord& fit, const warpalign::Shape& reference,
                                const warpalign::Shape& moving);

/// The error of one step of a fit from `before` to `after`, divided by the tolerance. 0 if
/// rounding decides which pixels count.
double fit_step_error(const FittedImages& images, warpalign::Motion motion,
                      const warpalign::FitRecord& before, const warpalign::FitRecord& after);

}  // namespace test
