// The rotations and scales that a search may find.
#pragma once

#include <warpalign/registrar.hpp>

#include <vector>

namespace warpalign::detail {

/// The rotations and scales that may be found.
struct RotationScaleLimits {
  /// What the options allow, widened by `slack_deg` on either side and by the factor `slack_scale`.
  static RotationScaleLimits of(const RegistrationOptions& options, double slack_deg = 0,
                                double slack_scale = 1);
  double min_scale = 0, max_scale = 1e9;     ///< between the levels
  double min_angle = -180, max_angle = 180;  ///< degrees, modulo 360
  [[nodiscard]] bool allows_scale(double scale) const;
  [[nodiscard]] bool allows_angle(double degrees) const;
  /// Whether the angle, or the opposite one 180 degrees from it, is allowed.
  [[nodiscard]] bool allows_angle_or_opposite(double degrees) const;
};

/// The rotations below 180 degrees, `step` apart, of which the limits allow one or its opposite.
/// Whoever compares images at one of them compares them upside down at once.
[[nodiscard]] std::vector<double> rotations_within(const RotationScaleLimits& limits, double step);

}  // namespace warpalign::detail
