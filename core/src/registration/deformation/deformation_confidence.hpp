// The confidence in a deformation whose affine transform no search has judged.
#pragma once

#include <warpalign/geometry.hpp>
#include <warpalign/pixel.hpp>

#include <algorithm>
#include <span>

namespace warpalign::detail {

/// The covariance of two images within windows, 5 pixels wide, about all pixels that `valid` is 1
/// for, divided by the root of the product of their variances. Unlike the mean of the windows'
/// correlations, this gives windows with more structure more weight, and windows without structure
/// none. All have the same shape.
[[nodiscard]] double pooled_correlation(std::span<const float> reference,
                                        std::span<const float> warped, std::span<const float> valid,
                                        const Shape& shape);

/// 0 to 1, from the pooled correlation after the deformation at half resolution.
[[nodiscard]] double deformation_confidence(double pooled_correlation);

/// Whether an affine transform that is not reliable by itself may still be right, because the
/// images lie about on each other, as those of two brains do. Transforms that a search takes from
/// unrelated images are seldom that near. `translation` in pixels of the reference, whose shape is
/// `shape`.
[[nodiscard]] bool is_nearly_aligned(double rotation_deg, double scale, const Point3& translation,
                                     const Shape& shape);

/// Judges a result whose affine transform is given, or not reliable by itself, by the correlation
/// that its deformation reached. Without confidence there is no deformation.
template <class Result>
void judge_by_deformation(Result& result, double pooled_correlation) {
  result.confidence = std::max(result.confidence, deformation_confidence(pooled_correlation));
  result.reliable = result.confidence >= 0.5;
  if (!result.reliable) result.deformation.reset();
}

}  // namespace warpalign::detail
