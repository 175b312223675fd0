// The parameters that a motion fixes, for which the options accept no limits.
#pragma once

#include <warpalign/registrar.hpp>

namespace warpalign {

/// Whether the scale is always 1. RegistrationOptions::min_scale and max_scale must then keep their
/// defaults.
[[nodiscard]] constexpr bool fixes_scale(Motion motion) noexcept {
  return motion == Motion::rigid || motion == Motion::rotation || motion == Motion::translation;
}

/// Whether the angle is always 0. RegistrationOptions::min_angle and max_angle, and
/// VolumeRegistrationOptions::max_rotation, must then keep their defaults.
[[nodiscard]] constexpr bool fixes_rotation(Motion motion) noexcept {
  return motion == Motion::translation;
}

/// Whether the centres of the images coincide. The limits of the shift (RegistrationOptions::
/// max_shift, max_shift_x and max_shift_y) must then keep their defaults.
[[nodiscard]] constexpr bool fixes_translation(Motion motion) noexcept {
  return motion == Motion::rotation;
}

/// Whether the search for this motion uses no log-polar spectra. RegistrationOptions::spectrum must
/// then keep its default.
[[nodiscard]] constexpr bool ignores_spectrum(Motion motion) noexcept {
  return motion == Motion::translation;
}

}  // namespace warpalign
