// The rule by which limits on parameters that a motion fixes are refused.
#include "registration/checked_options.hpp"

#include <warpalign/error.hpp>
#include <warpalign/motion_limits.hpp>

#include <doctest/doctest.h>

namespace {

using warpalign::Motion;
using warpalign::RegistrationOptions;

bool is_refused(Motion motion, void (*limit)(RegistrationOptions&)) {
  RegistrationOptions options;
  options.motion = motion;
  limit(options);
  try {
    static_cast<void>(warpalign::detail::checked(options));
    return false;
  } catch (const warpalign::Error&) {
    return true;
  }
}

}  // namespace

TEST_CASE("motion limits: options are refused exactly if the motion fixes their parameter") {
  for (const Motion motion :
       {Motion::similarity, Motion::rigid, Motion::rotation, Motion::translation, Motion::affine,
        Motion::homography, Motion::automatic}) {
    CAPTURE(static_cast<int>(motion));
    const auto scale = [](RegistrationOptions& options) { options.max_scale = 2; };
    const auto angle = [](RegistrationOptions& options) { options.min_angle = -10; };
    const auto shift = [](RegistrationOptions& options) { options.max_shift = 10; };
    const auto spectrum = [](RegistrationOptions& options) {
      options.spectrum = warpalign::SpectrumSignal::gradient;
    };
    CHECK(is_refused(motion, scale) == warpalign::fixes_scale(motion));
    CHECK(is_refused(motion, angle) == warpalign::fixes_rotation(motion));
    CHECK(is_refused(motion, shift) == warpalign::fixes_translation(motion));
    CHECK(is_refused(motion, spectrum) == warpalign::ignores_spectrum(motion));
  }
}
