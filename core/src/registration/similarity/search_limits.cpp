// Whether a place is one that the options allow.
#include "registration/similarity/search_limits.hpp"

#include "registration/plane_geometry.hpp"
#include "registration/similarity/rotation_scale_search.hpp"

#include <cmath>

namespace warpalign::detail {

bool within_limits(const RegistrationOptions& options, const PairWork& work, const Affine& matrix) {
  constexpr double degrees = 1;
  constexpr double ratio = 1.03;
  const Shape& moving = work.moving.shape();
  const Similarity found = Similarity::of(matrix, work.reference.shape(), moving);
  const RotationScaleLimits limits = RotationScaleLimits::of(options, degrees, ratio);
  const double shift = std::hypot(found.translation.x, found.translation.y);
  const double max_shift = options.max_shift + 1 + 0.005 * larger_side(moving);
  return limits.allows_angle(found.rotation_deg) && limits.allows_scale(found.scale) &&
         (options.max_shift == 0 || shift <= max_shift);
}

}  // namespace warpalign::detail
