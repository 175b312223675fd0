// The choice between the default grid and a finer one.
#pragma once

#include "registration/deformation/noise_floor.hpp"

#include <warpalign/registrar.hpp>

#include <span>

namespace warpalign::detail {

/// The distance of control points in images that the default grid does not follow.
constexpr double fine_grid_spacing = RegistrationOptions::fine_grid_spacing;
/// The bending weight of the fine grid, in parts of that of the default one.
constexpr double fine_weight = 0.4;

/// The mean correlation of windows of two images that show the same and differ by their noise only:
/// S / sqrt((V + f) (S + 3 g)), with the variance V of a window of the reference, f and g the
/// floors of both images, half the variance of their noise, in the reference's unit, and S = max(V
/// - 2 f, 0) without the noise. `precisions`: 1 / sqrt(V + f) of some windows; `counts`: 1 or 0.
[[nodiscard]] double expected_correlation(std::span<const float> precisions,
                                          std::span<const float> counts,
                                          const IntensityVariance& reference,
                                          const IntensityVariance& moving);

/// Whether more than noise is left to explain in images that show much the same: they differ by a
/// deformation that the default grid cannot follow, as the brains of two people do.
[[nodiscard]] bool needs_fine_grid(double correlation, double expected);

}  // namespace warpalign::detail
