// The names of options, as the command line and the reports have them.
#include "reports/option_names.hpp"

namespace warpalign::program {

const char* name_of(Motion motion) {
  switch (motion) {
    case Motion::rigid:
      return "rigid";
    case Motion::rotation:
      return "rotation";
    case Motion::translation:
      return "translation";
    case Motion::affine:
      return "affine";
    case Motion::homography:
      return "homography";
    case Motion::deformable:
      return "deformable";
    default:
      return "similarity";
  }
}

const char* name_of(Modality modality) { return modality == Modality::other ? "other" : "same"; }

}  // namespace warpalign::program
