// Accepts two aligned volumes of any contrast whose gradients agree within their outlines. The
// opposite verdict, about volumes of one contrast, is search/structure_check.hpp.
#pragma once

#include "registration/volume/structure/host_volume.hpp"

#include <vector>

namespace warpalign::detail {

/// Agreement of the gradients' directions where both volumes show an object: means of the squared
/// cosine of the angle between them, weighted by how far the gradients exceed the usual ones.
/// Unlike a correlation, it needs no relation between the intensities.
struct StructureAgreement {
  /// Of the deviations from each object's profile, the mean intensity at a distance from its
  /// outline. 1/3 for unrelated volumes, whatever their outlines are.
  double within = 0;
  /// Of the gradients' parts along the surfaces of equal distance from the common outline. 1/2 for
  /// unrelated volumes.
  double along = 0;
  /// The mean cosine along these surfaces: positive if both volumes have the same contrast.
  double direction = 0;
  double voxels = 0;  ///< compared
};

/// `warped`: the moving volume at the reference's voxels, NaN where it is unknown.
[[nodiscard]] StructureAgreement structure_agreement(const std::vector<float>& reference,
                                                     const std::vector<float>& warped,
                                                     const Shape& shape);

/// The confidence, 0 to 1, that volumes with this agreement show the same structure there.
[[nodiscard]] double structure_confidence(const StructureAgreement& agreement);

}  // namespace warpalign::detail
