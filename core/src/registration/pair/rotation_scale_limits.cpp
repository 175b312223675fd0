// The rotations and scales that a search may return.
#include "registration/pair/rotation_scale_limits.hpp"

#include "registration/pair/motion_model.hpp"

#include <cmath>

namespace warpalign::detail {

RotationScaleLimits RotationScaleLimits::of(const RegistrationOptions& options, double slack_deg,
                                            double slack_scale) {
  const bool scales = searched_motion(options.motion) == Motion::similarity;
  return {(scales ? options.min_scale : 1) / slack_scale,
          (scales ? options.max_scale : 1) * slack_scale, options.min_angle - slack_deg,
          options.max_angle + slack_deg};
}

bool RotationScaleLimits::allows_scale(double scale) const {
  return scale >= min_scale && scale <= max_scale;
}

bool RotationScaleLimits::allows_angle(double degrees) const {
  if (max_angle - min_angle >= 360) return true;
  const double above = std::fmod(degrees - min_angle, 360.0);
  return (above < 0 ? above + 360 : above) <= max_angle - min_angle;
}

bool RotationScaleLimits::allows_angle_or_opposite(double degrees) const {
  return allows_angle(degrees) || allows_angle(degrees + 180);
}

std::vector<double> rotations_within(const RotationScaleLimits& limits, double step) {
  std::vector<double> rotations;
  for (double degrees = 0; degrees < 180; degrees += step) {
    if (limits.allows_angle_or_opposite(degrees)) rotations.push_back(degrees);
  }
  return rotations;
}

}  // namespace warpalign::detail
