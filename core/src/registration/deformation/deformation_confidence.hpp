// The confidence in a deformation whose affine transform no search has judged.
#pragma once

#include <warpalign/pixel.hpp>

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

}  // namespace warpalign::detail
