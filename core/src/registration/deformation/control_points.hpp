// Control points of a deformation on the host: refinement of the grid, relaxation where the field
// nearly folds, and the inverse curvatures of an optimisation.
#pragma once

#include "registration/deformation/deformable_levels.hpp"

#include <warpalign/backend/stages/refinement/deformation_grid.hpp>
#include <warpalign/pixel.hpp>

#include <array>
#include <span>
#include <vector>

namespace warpalign::detail {

/// The coefficients of the same spline on a grid with half the spacing (Lane & Riesenfeld 1980),
/// its control point 0 one spacing before the first pixel on both grids. Component after component.
[[nodiscard]] std::vector<float> refined(std::span<const float> coefficients, const Shape& coarse,
                                         const Shape& fine, int components);

/// The coefficients of the same spline on the grid of a finer level, whose spacing is that of the
/// coarser one, or its half, quarter and so on.
[[nodiscard]] std::vector<float> refined_between(std::span<const float> coefficients,
                                                 const DeformableLevel& coarse,
                                                 const DeformableLevel& fine, const Shape& image);

/// Moves the control points whose mark is not 0 half the way to the mean of their neighbours.
/// Repeated, this makes the field affine there, whose determinant is positive.
void relax(std::span<float> coefficients, const DeformationGridSpec& spec,
           std::span<const float> marks);

/// (H + diag(smoothness))^-1 at each control point: `curvatures` has the different entries of H,
/// xx, xy, yy in the plane, else xx, xy, xz, yy, yz, zz, one array after the other, as the result.
/// The curvatures are multiplied by the factors of both axes.
[[nodiscard]] std::vector<float> inverse_curvatures(std::span<const float> curvatures, int axes,
                                                    const std::array<double, 3>& factors,
                                                    const std::array<double, 3>& smoothness);

}  // namespace warpalign::detail
