// The rotations and scales that a search may return.
#pragma once

#include <warpalign/registrar.hpp>

#include <vector>

namespace warpalign::detail {

/// The ranges of rotation and scale that a search may return.
struct RotationScaleLimits {
  /// The ranges of the options, widened by `slack_deg` on either side and by the factor
  /// `slack_scale`.
  static RotationScaleLimits of(const RegistrationOptions& options, double slack_deg = 0,
                                double slack_scale = 1);
  double min_scale = 0, max_scale = 1e9;     ///< between the levels
  double min_angle = -180, max_angle = 180;  ///< degrees, modulo 360
  [[nodiscard]] bool allows_scale(double scale) const;
  [[nodiscard]] bool allows_angle(double degrees) const;
  /// Whether the angle or the one opposite to it (180 degrees away) is allowed.
  [[nodiscard]] bool allows_angle_or_opposite(double degrees) const;
};

/// The rotations from 0 to 180 degrees, `step` apart, that are allowed or whose opposites are. A
/// comparison at one rotation includes the opposite one.
[[nodiscard]] std::vector<double> rotations_within(const RotationScaleLimits& limits, double step);

}  // namespace warpalign::detail
