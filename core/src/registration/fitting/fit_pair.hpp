// The images to which transforms are fitted.
#pragma once

#include "registration/numerics/plane_geometry.hpp"

#include <warpalign/backend/stages/refinement/similarity_sums.hpp>

#include <optional>
#include <span>

namespace warpalign::detail {

/// The images of a fit, with margins as in SimilaritySumsSpec.
struct FitPair {
  SimilarityImages images;
  int reference_margin = 0;
  int moving_margin = 1;
  /// The second channel, if there are two. Fits add its sums to those of the first channel. Both
  /// channels have the same gain, but different offsets. Two channels exclude an illumination
  /// model.
  std::optional<SimilarityImages> second{};
  UnmaskedPixels counted{};

  /// The specification of the sums for fits of this pair, without an illumination model.
  [[nodiscard]] SimilaritySumsSpec sums(bool projective, std::size_t batch) const {
    SimilaritySumsSpec spec;
    spec.reference = images.reference.shape();
    spec.moving = images.coefficients.shape();
    spec.reference_margin = reference_margin;
    spec.moving_margin = moving_margin;
    spec.masked = images.reference_weight != nullptr;
    spec.projective = projective;
    spec.batch = batch;
    return spec;
  }
};

/// A pair, and the transforms to fit or evaluate for it.
struct FitGroup {
  const FitPair* pair;
  std::span<const Homography> matrices;
};

}  // namespace warpalign::detail
