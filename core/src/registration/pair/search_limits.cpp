// Limits of a search that follow from the options.
#include "registration/pair/search_limits.hpp"

#include "registration/numerics/plane_geometry.hpp"
#include "registration/pair/level_pair.hpp"
#include "registration/pair/rotation_scale_limits.hpp"

#include <cmath>

namespace warpalign::detail {

Affine start_of(const PairContext& work, Motion motion, const Affine& found) {
  if (motion != Motion::rotation) return found;
  const Shape& reference = work.reference.shape();
  const Shape& moving = work.moving.shape();
  const double degrees = Similarity::of(found, reference, moving).rotation_deg;
  return Similarity{degrees, 1, {}}.matrix(reference, moving);
}

bool allows_shift(const RegistrationOptions& options, Point translation, double tolerance) {
  const auto allows = [tolerance](double limit, double extent) {
    return limit == 0 || extent <= limit + tolerance;
  };
  return allows(options.max_shift, std::hypot(translation.x, translation.y)) &&
         allows(options.max_shift_x, std::abs(translation.x)) &&
         allows(options.max_shift_y, std::abs(translation.y));
}

bool within_limits(const RegistrationOptions& options, const Shape& reference, const Shape& moving,
                   const Affine& matrix) {
  constexpr double degrees = 1;
  constexpr double ratio = 1.03;
  const Similarity found = Similarity::of(matrix, reference, moving);
  const RotationScaleLimits limits = RotationScaleLimits::of(options, degrees, ratio);
  return limits.allows_angle(found.rotation_deg) && limits.allows_scale(found.scale) &&
         allows_shift(options, found.translation, 1 + 0.005 * larger_side(moving));
}

// Poses are independent at about the spacing of the grid search: rotations 4 degrees apart, scales
// a factor of 1.25 apart, and each pixel of a level on which candidates are evaluated.
double num_trials(const RegistrationOptions& options, const Shape& reference, const Shape& moving) {
  const bool rotates = options.motion != Motion::translation;
  const bool scales =
      rotates && options.motion != Motion::rotation && options.motion != Motion::rigid;
  const double range = std::min(options.max_angle - options.min_angle, 360.0);
  const double rotations = rotates ? 1 + range / 4 : 1;
  const double steps =
      scales ? 1 + std::log(options.max_scale / options.min_scale) / std::log(1.25) : 1;
  if (options.motion == Motion::rotation) return rotations;
  const double side = std::max(larger_side(reference), larger_side(moving));
  const auto along = [&](double limit) {
    double shift = 1;
    for (const double most : {options.max_shift, limit}) {
      if (most > 0) shift = std::min(shift, most / side);
    }
    return 1 + 2 * shift * std::min(side, scoring_side);
  };
  return rotations * steps * along(options.max_shift_x) * along(options.max_shift_y);
}

}  // namespace warpalign::detail
