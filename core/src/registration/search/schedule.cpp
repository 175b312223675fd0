// Decides for which options a step of the schedule runs.
#include "registration/search/schedule.hpp"

#include "registration/pair/motion_model.hpp"

namespace warpalign::detail {

namespace {

bool applies(When when, const RegistrationOptions& options) {
  const bool by_intensity = options.modality != Modality::other;
  const bool shifts = options.motion == Motion::translation;
  switch (when) {
    case When::always:
      return true;
    case When::compares_intensity:
      return by_intensity;
    case When::translation:
      return by_intensity && shifts;
    case When::rotating:
      return by_intensity && !shifts;
    case When::matching_points:
      return by_intensity &&
             (options.motion == Motion::automatic ||
              (!exceeds_similarity(options.motion) && options.motion != Motion::rotation));
    case When::shifting:
      return options.motion != Motion::rotation;
    case When::projective:
      return by_intensity && may_be_homography(options.motion);
    case When::both_signals:
      return options.modality == Modality::automatic && !shifts;
    case When::other_modality:
      return !by_intensity ||
             (options.modality == Modality::automatic && options.search != Effort::fast);
  }
  return false;
}

}  // namespace

bool applies(const Step& step, const RegistrationOptions& options) {
  return options.search >= step.efforts.from && options.search <= step.efforts.to &&
         applies(step.when, options);
}

}  // namespace warpalign::detail
