// A transform between two images that a search has proposed, and its evaluation.
#pragma once

#include "registration/numerics/confidence.hpp"
#include "registration/points/point_agreement.hpp"

#include <warpalign/registrar.hpp>

#include <algorithm>
#include <optional>

namespace warpalign::detail {

/// A candidate this significant gets its null test at once, and if it is convincing the search
/// stops.
inline constexpr double accepted_significance = 2 * half_confidence_significance;

/// A candidate this significant is accepted without a null test: its significance is several times
/// what unrelated images reach. Wrong poses of images with unevenly distributed texture, such as a
/// whiteboard, reached 89.
inline constexpr double conclusive_significance = 4 * half_confidence_significance;

/// The result of a null test: a candidate's correlation compared with that of wrong poses.
struct NullComparison {
  double z_score = 0;     ///< of the correlation; see SignificanceTest
  double max_null_z = 0;  ///< the z-score that the best of all wrong poses reaches
  /// The z-score of the best candidate at another pose as a fraction of this one's: near 1 if the
  /// alignment is ambiguous.
  double second_best_ratio = 0;

  /// At 1 the confidence is 0.5, unless another pose is nearly as good.
  [[nodiscard]] double evidence() const { return z_score / (max_null_z + null_z_margin); }
};

/// A transform that was evaluated.
struct Candidate {
  Affine matrix;            ///< the similarity that was found: reference pixels -> moving pixels
  double shift_score = 0;   ///< see TranslationPeak::score
  double correlation = 0;   ///< of the locally normalized images over their overlap
  double significance = 0;  ///< atanh(correlation) sqrt(independent pixels), on a coarse grid
  double overlap = 0;       ///< overlap as a fraction of the reference
  /// The significance at which the confidence is 0.5. It grows with the number of parameters.
  double half_confidence = half_confidence_significance;
  /// The null test, if it was run. Candidates beyond doubt need none.
  std::optional<NullComparison> null_test;
  /// The score of the best other shift as a fraction of this one's: near 1 where the images repeat
  /// themselves, or are structured in one direction. 0 where shifts were not compared.
  double other_shift_ratio = 0;
  /// The evidence that follows from another signal with the same answer; see agreement_evidence().
  double agreement = 0;
  /// The pose at which it was proposed, if no other shift scored nearly as much there.
  std::optional<Affine> only_maximum_at;
  bool refined = false;  ///< by a fit at full resolution
  /// The point sources of both images that agree on the transform, if they propose it. The null
  /// test is then theirs.
  std::optional<PointAgreement> points;
  SearchMethod proposed_by = SearchMethod::log_polar;
  /// Whether gradient orientation was compared instead of intensity. Then the correlation and the
  /// significance are those of orientation.
  bool by_orientation = false;
  /// Motion::affine or Motion::homography if `richer` replaces the similarity.
  Motion motion = Motion::similarity;
  Homography richer;  ///< the affine transform or homography, see `motion`

  /// Whether the significance alone suffices. Not with more parameters than a similarity has: these
  /// can make a small part of an image resemble anything.
  [[nodiscard]] bool beyond_doubt() const {
    return motion == Motion::similarity && !by_orientation && !points &&
           significance >= conclusive_significance;
  }
  /// The evidence for the transform. At 1 the confidence is 0.5.
  [[nodiscard]] double evidence() const { return std::max(own_evidence(), agreement); }
  /// The same by one signal alone.
  [[nodiscard]] double own_evidence() const {
    if (by_orientation) return null_test ? null_test->evidence() : 0;
    const double by_significance = significance / half_confidence;
    if (!null_test || beyond_doubt()) return by_significance;
    if (motion == Motion::similarity) return null_test->evidence();
    return std::min(by_significance, null_test->evidence());
  }
  /// The confidence score of the transform, from 0 to 1.
  [[nodiscard]] double confidence() const {
    const double ratio = null_test && !beyond_doubt() ? null_test->second_best_ratio : 0;
    return std::min(null_test_confidence(evidence(), ratio),
                    uniqueness_confidence(other_shift_ratio));
  }
  /// Whether the confidence would be one half or more, if the images did not match elsewhere.
  [[nodiscard]] bool is_ambiguous() const {
    return confidence() < 0.5 && null_test_confidence(evidence(), 0) >= 0.5;
  }
};

/// The transform of a candidate with any motion.
[[nodiscard]] inline Homography transform_of(const Candidate& candidate) {
  return candidate.motion == Motion::similarity ? Homography(candidate.matrix) : candidate.richer;
}

/// Whether a candidate is significant enough to end the search for others.
[[nodiscard]] inline bool is_convincing(const Candidate& candidate) {
  return candidate.confidence() >= 0.5;
}

}  // namespace warpalign::detail
