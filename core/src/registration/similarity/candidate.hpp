// A transform between two images that a search proposes, and what is known of it.
#pragma once

#include "registration/confidence.hpp"

#include <warpalign/registrar.hpp>

namespace warpalign::detail {

/// A candidate this significant is accepted without comparing it to others: its significance is
/// several times what unrelated images reach.
inline constexpr double accepted_significance = 2 * half_confidence_significance;

/// A transform that was evaluated.
struct Candidate {
  Affine matrix;            ///< reference pixels -> moving pixels: the similarity that was found
  double shift_score = 0;   ///< see TranslationPeak::score
  double correlation = 0;   ///< of the locally normalized images over their overlap
  double significance = 0;  ///< atanh(correlation) sqrt(independent pixels), on a coarse grid
  double overlap = 0;       ///< fraction of the reference that is in common
  /// The significance at which the confidence is one half: the wider the search, the higher.
  double half_confidence = half_confidence_significance;
  bool refined = false;  ///< whether it was refined at full resolution
  /// Motion::affine or Motion::homography where such a transform takes the similarity's place.
  Motion motion = Motion::similarity;
  Homography richer;  ///< that transform
};

}  // namespace warpalign::detail
