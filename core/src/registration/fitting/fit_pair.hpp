// The images between which transforms are fitted.
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
  /// Of images with two channels, the second, whose sums are added: it has the same gain and an
  /// offset of its own. No illumination model applies to these.
  std::optional<SimilarityImages> second{};
  CountedPixels counted{};

  /// The sums of its fits, without an illumination model.
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

/// Transforms of one of several pairs.
struct FitGroup {
  const FitPair* pair;
  std::span<const Homography> matrices;
};

}  // namespace warpalign::detail
