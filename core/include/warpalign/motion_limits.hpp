// What a motion keeps fixed, of which limits have no use.
#pragma once

#include <warpalign/registrar.hpp>

namespace warpalign {

/// Whether the scale is always 1: RegistrationOptions::min_scale and max_scale are then refused.
[[nodiscard]] constexpr bool keeps_scale(Motion motion) noexcept {
  return motion == Motion::rigid || motion == Motion::rotation || motion == Motion::translation;
}

/// Whether the angle is always 0: RegistrationOptions::min_angle and max_angle, and
/// VolumeRegistrationOptions::max_rotation, are then refused.
[[nodiscard]] constexpr bool keeps_angle(Motion motion) noexcept {
  return motion == Motion::translation;
}

/// Whether the images' centres lie on one another: RegistrationOptions::max_shift is then refused.
[[nodiscard]] constexpr bool keeps_shift(Motion motion) noexcept {
  return motion == Motion::rotation;
}

/// Whether spectra of the images say nothing of it: RegistrationOptions::spectrum is then refused.
[[nodiscard]] constexpr bool needs_no_spectrum(Motion motion) noexcept {
  return motion == Motion::translation;
}

}  // namespace warpalign
