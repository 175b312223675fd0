// Validates the options of a registration.
#include "registration/checked_options.hpp"

#include "device/check.hpp"
#include "registration/option_table.hpp"

#include <warpalign/motion_limits.hpp>

namespace warpalign::detail {

namespace {

constexpr const char* options_stage = "register";

void check_order(const RegistrationOptions& options) {
  if (options.min_scale > options.max_scale) {
    refuse(options_stage, "min_scale must not exceed max_scale");
  }
  if (options.min_angle > options.max_angle) {
    refuse(options_stage, "min_angle must not exceed max_angle");
  }
}

// Refuses options that the fast pipeline would ignore.
void check_fast(const RegistrationOptions& options) {
  if (!changes_options_without_fast(options)) return;
  refuse(options_stage,
         "the fast pipeline finds one unrestricted similarity from gradients; do not set motion, "
         "ranges, candidates, spectrum, modality or search");
}

// Refuses options that the motion would ignore: limits of parameters that it keeps fixed, and the
// spectrum if the search uses none.
void check_motion(const RegistrationOptions& options) {
  const RegistrationOptions defaults;
  const Motion motion = options.motion;
  const bool scales =
      options.min_scale != defaults.min_scale || options.max_scale != defaults.max_scale;
  const bool angles =
      options.min_angle != defaults.min_angle || options.max_angle != defaults.max_angle;
  const bool spectrum = options.spectrum != defaults.spectrum;
  if (scales && fixes_scale(motion)) {
    refuse(options_stage, "this motion keeps the scale at 1; do not set min_scale or max_scale");
  }
  if (angles && fixes_rotation(motion)) {
    refuse(options_stage,
           "the motion translation keeps the angle at 0; do not set min_angle or max_angle");
  }
  const bool shifts =
      options.max_shift != 0 || options.max_shift_x != 0 || options.max_shift_y != 0;
  if (shifts && fixes_translation(motion)) {
    refuse(options_stage,
           "the motion rotation keeps the shift at 0; do not set max_shift, max_shift_x or "
           "max_shift_y");
  }
  if (spectrum && (ignores_spectrum(motion) || options.modality == Modality::other)) {
    refuse(options_stage,
           "the search uses no spectra for translations or for the modality other; do not set "
           "spectrum");
  }
}

// Refuses options of the search for an affine transform that the deformation would ignore, and
// options of a deformation if there is none.
void check_deformable(const RegistrationOptions& options) {
  if (options.motion != Motion::deformable) {
    const RegistrationOptions defaults;
    if (options.grid_spacing != defaults.grid_spacing ||
        options.bending_weight != defaults.bending_weight) {
      refuse(options_stage,
             "only the motion deformable has a grid; do not set grid_spacing or bending_weight");
    }
    return;
  }
  if (!options.refine) refuse(options_stage, "the motion deformable needs refine");
  if (options.candidates != 1) {
    refuse(options_stage, "the motion deformable has one result; do not set candidates");
  }
}

void check_effort(const RegistrationOptions& options) {
  if (options.search != Effort::fast || options.modality != Modality::other) return;
  refuse(options_stage,
         "the search fast does not support the modality other: it compares log-polar spectra of "
         "intensities, which differ between modalities");
}

}  // namespace

RegistrationOptions checked(const RegistrationOptions& options) {
  check_option_ranges(options);
  if (options.spectrum_exponent == 0) refuse(options_stage, "spectrum_exponent must be above 0");
  check_order(options);
  if (options.fast) check_fast(options);
  check_motion(options);
  check_effort(options);
  check_deformable(options);
  return options;
}

RegistrationOptions with_default_grid(RegistrationOptions options) {
  if (options.motion == Motion::deformable &&
      options.grid_spacing == RegistrationOptions::automatic_grid_spacing) {
    options.grid_spacing = RegistrationOptions::default_grid_spacing;
  }
  return options;
}

}  // namespace warpalign::detail
