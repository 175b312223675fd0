// The confidence in a deformation whose affine transform no search has judged.
#pragma once

#include "registration/deformation/judgement/structure_correlation.hpp"

#include <warpalign/geometry.hpp>
#include <warpalign/pixel.hpp>

#include <algorithm>

namespace warpalign::detail {

/// 0 to 1, from the correlations after the deformation of images of this shape.
[[nodiscard]] double deformation_confidence(const StructureCorrelation& found, const Shape& shape);

/// Whether an affine transform that is not reliable by itself may still be right, because the
/// images lie about on each other, as those of two brains do. Transforms that a search takes from
/// unrelated images are seldom that near. `translation` in pixels of the reference, whose shape is
/// `shape`.
[[nodiscard]] bool is_nearly_aligned(double rotation_deg, double scale, const Point3& translation,
                                     const Shape& shape);

/// Judges a result whose affine transform is given, or not reliable by itself, by the correlation
/// that its deformation reached. Without confidence there is no deformation. `shape`: of the
/// reference.
template <class Result>
void judge_by_deformation(Result& result, const StructureCorrelation& found, const Shape& shape) {
  result.confidence = std::max(result.confidence, deformation_confidence(found, shape));
  result.reliable = result.confidence >= 0.5;
  if (!result.reliable) result.deformation.reset();
}

}  // namespace warpalign::detail
