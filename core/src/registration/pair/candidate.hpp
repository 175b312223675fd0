// A transform between two images that a search proposes, and what is known of it.
#pragma once

#include "registration/numerics/confidence.hpp"

#include <warpalign/registrar.hpp>

#include <algorithm>
#include <optional>

namespace warpalign::detail {

/// A candidate this significant is compared with chance at once, and where it is convincing nothing
/// else is searched for.
inline constexpr double accepted_significance = 2 * half_confidence_significance;

/// A candidate this significant is accepted without a comparison: its significance is several times
/// what unrelated images reach. Wrong places of images whose texture is unevenly spread, such as a
/// whiteboard's, reached 89.
inline constexpr double undoubted_significance = 4 * half_confidence_significance;

/// A candidate's correlation against that of wrong places.
struct Chance {
  double deviations = 0;  ///< of the correlation from 0; see ChanceTest
  double reached = 0;     ///< the deviations that the best of all wrong places reaches by chance
  /// The deviations of the best other place as a fraction of these: near 1 where the images
  /// resemble each other at several places.
  double rival = 0;

  /// At 1 the confidence is one half, unless there is a rival.
  [[nodiscard]] double evidence() const { return deviations / (reached + chance_margin); }
};

/// A transform that was evaluated.
struct Candidate {
  Affine matrix;            ///< reference pixels -> moving pixels: the similarity that was found
  double shift_score = 0;   ///< see TranslationPeak::score
  double correlation = 0;   ///< of the locally normalized images over their overlap
  double significance = 0;  ///< atanh(correlation) sqrt(independent pixels), on a coarse grid
  double overlap = 0;       ///< fraction of the reference that is in common
  /// The significance at which the confidence is one half: the wider the search, the higher.
  double half_confidence = half_confidence_significance;
  /// What chance gives, where that was tested: candidates beyond doubt need no test.
  std::optional<Chance> chance;
  /// The score of the best other shift as a fraction of this one's: near 1 where the images repeat
  /// themselves, or are structured in one direction. 0 where shifts were not compared.
  double shift_rival = 0;
  bool refined = false;  ///< whether it was refined at full resolution
  Generator proposed_by = Generator::log_polar;
  /// Whether directions of edges were compared, and not grey levels. Correlation and significance
  /// are of these then.
  bool by_gradients = false;
  /// Motion::affine or Motion::homography where such a transform takes the similarity's place.
  Motion motion = Motion::similarity;
  Homography richer;  ///< that transform

  /// Whether the significance alone suffices: with more parameters than a similarity has, a small
  /// part of an image can be made to resemble anything.
  [[nodiscard]] bool beyond_doubt() const {
    return motion == Motion::similarity && !by_gradients && significance >= undoubted_significance;
  }
  /// How much speaks for the transform: at 1 the confidence is one half.
  [[nodiscard]] double evidence() const {
    if (by_gradients) return chance ? chance->evidence() : 0;
    const double by_significance = significance / half_confidence;
    if (!chance || beyond_doubt()) return by_significance;
    if (motion == Motion::similarity) return chance->evidence();
    return std::min(by_significance, chance->evidence());
  }
  /// The confidence, 0 to 1, that the transform is about right.
  [[nodiscard]] double confidence() const {
    const double rival = chance && !beyond_doubt() ? chance->rival : 0;
    return std::min(evidence_confidence(evidence(), rival), rival_confidence(shift_rival));
  }
  /// Whether the confidence would be one half or more, if the images did not match elsewhere.
  [[nodiscard]] bool is_ambiguous() const {
    return confidence() < 0.5 && evidence_confidence(evidence(), 0) >= 0.5;
  }
};

/// The transform of a candidate, whatever its motion.
[[nodiscard]] inline Homography transform_of(const Candidate& candidate) {
  return candidate.motion == Motion::similarity ? Homography(candidate.matrix) : candidate.richer;
}

/// Whether a candidate is significant enough for others not to be searched for.
[[nodiscard]] inline bool is_convincing(const Candidate& candidate) {
  return candidate.confidence() >= 0.5;
}

}  // namespace warpalign::detail
