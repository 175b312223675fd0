// Whether the options of a registration are within their ranges and go together.
#include "registration/checked_options.hpp"

#include "device/check.hpp"
#include "registration/option_table.hpp"

#include <warpalign/motion_limits.hpp>

namespace warpalign::detail {

namespace {

constexpr const char* stage = "register";

void check_order(const RegistrationOptions& options) {
  if (options.min_scale > options.max_scale) {
    refuse(stage, "min_scale must not be above max_scale");
  }
  if (options.min_angle > options.max_angle) {
    refuse(stage, "min_angle must not be above max_angle");
  }
}

// Options that the fast pipeline does not support are refused rather than ignored.
void check_fast(const RegistrationOptions& options) {
  if (!changes_options_without_fast(options)) return;
  refuse(stage,
         "the fast pipeline finds one unrestricted similarity from gradients: it supports no "
         "motion, ranges, candidates, spectrum, modality or search");
}

// Limits of what the motion keeps fixed, and a spectrum that nothing is searched with, would be
// ignored.
void check_motion(const RegistrationOptions& options) {
  const RegistrationOptions defaults;
  const Motion motion = options.motion;
  const bool scales =
      options.min_scale != defaults.min_scale || options.max_scale != defaults.max_scale;
  const bool angles =
      options.min_angle != defaults.min_angle || options.max_angle != defaults.max_angle;
  const bool spectrum = options.spectrum != defaults.spectrum;
  if (scales && keeps_scale(motion)) {
    refuse(stage, "this motion keeps the scale at 1: min_scale and max_scale have no use");
  }
  if (angles && keeps_angle(motion)) {
    refuse(stage,
           "the motion translation keeps the angle at 0: min_angle and max_angle have no use");
  }
  if (options.max_shift != 0 && keeps_shift(motion)) {
    refuse(stage, "the motion rotation keeps the shift at 0: max_shift has no use");
  }
  if (spectrum && (needs_no_spectrum(motion) || options.modality == Modality::other)) {
    refuse(stage,
           "neither translations nor directions of edges are searched for by spectra: spectrum has "
           "no use");
  }
}

void check_effort(const RegistrationOptions& options) {
  if (options.search != Effort::fast || options.modality != Modality::other) return;
  refuse(
      stage,
      "the search fast finds rotation and scale from log-polar spectra of the grey levels, which "
      "images of other modalities do not share");
}

}  // namespace

RegistrationOptions checked(const RegistrationOptions& options) {
  check_option_ranges(options);
  if (options.spectrum_exponent == 0) refuse(stage, "spectrum_exponent must be above 0");
  check_order(options);
  if (options.fast) check_fast(options);
  check_motion(options);
  check_effort(options);
  return options;
}

}  // namespace warpalign::detail
