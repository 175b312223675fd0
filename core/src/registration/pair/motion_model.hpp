// Which motions a search finds, and which are fitted at what it has found.
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
/// The motion that poses are searched for; richer ones are fitted where these are found.
[[nodiscard]] constexpr Motion searched_motion(Motion motion) {
  return exceeds_similarity(motion) ? Motion::similarity : motion;
}

}  // namespace warpalign::detail
