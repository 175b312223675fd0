// Options of registrations in the C interface.
#include "c_interface/options.hpp"

#include "c_interface/call.hpp"

namespace warpalign::c_interface {

bool flag(std::int32_t value, const std::string& what) {
  if (value != 0 && value != 1) refuse(what + " must be 0 or 1");
  return value == 1;
}

Motion motion_of(warpalign_motion motion) {
  switch (motion) {
    case WARPALIGN_SIMILARITY:
      return Motion::similarity;
    case WARPALIGN_RIGID:
      return Motion::rigid;
    case WARPALIGN_ROTATION:
      return Motion::rotation;
    case WARPALIGN_TRANSLATION:
      return Motion::translation;
    case WARPALIGN_AFFINE:
      return Motion::affine;
    case WARPALIGN_HOMOGRAPHY:
      return Motion::homography;
    case WARPALIGN_AUTOMATIC:
      return Motion::automatic;
    case WARPALIGN_DEFORMABLE:
      return Motion::deformable;
    default:
      refuse("invalid value " + std::to_string(motion) +
             " for motion (use WARPALIGN_SIMILARITY, ...)");
  }
}

warpalign_motion number_of(Motion motion) noexcept {
  switch (motion) {
    case Motion::rigid:
      return WARPALIGN_RIGID;
    case Motion::rotation:
      return WARPALIGN_ROTATION;
    case Motion::translation:
      return WARPALIGN_TRANSLATION;
    case Motion::affine:
      return WARPALIGN_AFFINE;
    case Motion::homography:
      return WARPALIGN_HOMOGRAPHY;
    default:
      return WARPALIGN_SIMILARITY;
  }
}

Modality modality_of(warpalign_modality modality) {
  switch (modality) {
    case WARPALIGN_MODALITY_SAME:
      return Modality::same;
    case WARPALIGN_MODALITY_OTHER:
      return Modality::other;
    case WARPALIGN_MODALITY_AUTO:
      return Modality::automatic;
    default:
      refuse("invalid value " + std::to_string(modality) +
             " for modality (use WARPALIGN_MODALITY_SAME, ...)");
  }
}

warpalign_modality number_of(Modality modality) noexcept {
  return modality == Modality::other ? WARPALIGN_MODALITY_OTHER : WARPALIGN_MODALITY_SAME;
}

}  // namespace warpalign::c_interface
