// Checks shared by the stages that compare a reference with a moving image's spline.
#pragma once

#include <warpalign/backend/stages/refinement/similarity_sums.hpp>

namespace warpalign::detail {

/// The pair of images of a plan.
struct ComparedPair {
  const char* stage;
  Shape reference, moving;
  int reference_margin, moving_margin;
  bool masked;
  bool projective;
};

/// Throws Error(invalid_argument) for shapes or margins that are not allowed.
void check_pair(const ComparedPair& pair);
/// Throws Error(invalid_argument) unless the images match the plan.
void check_images(const ComparedPair& pair, const Device& device, const SimilarityImages& images);
/// Throws Error(invalid_argument) for NaN and infinities, for a projective matrix if the pair is
/// not projective, and for a matrix that maps a point of the reference to infinity or beyond it.
void check_matrix(const ComparedPair& pair, const Homography& matrix);

/// The matrix, scaled so that w is 1 at the reference's centre.
[[nodiscard]] Homography normalized(const Homography& matrix, const Shape& reference);

backend::SimilarityMemory memory_of(const SimilarityImages& images);

}  // namespace warpalign::detail
