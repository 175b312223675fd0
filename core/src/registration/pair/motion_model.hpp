// Relations between the motions of the options and the motion that the search uses.
#pragma once

#include <warpalign/registrar.hpp>

namespace warpalign::detail {

/// Whether the motion has, or may have, more parameters than a similarity.
[[nodiscard]] constexpr bool exceeds_similarity(Motion motion) {
  return motion == Motion::affine || motion == Motion::homography || motion == Motion::automatic;
}
/// Whether the transform may be a homography.
[[nodiscard]] constexpr bool may_be_homography(Motion motion) {
  return motion == Motion::homography || motion == Motion::automatic;
}
/// The motion for which poses are searched. A higher-degree-of-freedom model is fitted at its
/// result.
[[nodiscard]] constexpr Motion searched_motion(Motion motion) {
  return exceeds_similarity(motion) ? Motion::similarity : motion;
}

}  // namespace warpalign::detail
