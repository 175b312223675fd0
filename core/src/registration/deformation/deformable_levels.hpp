// The levels of a deformable registration: images from coarse to fine, and their grids.
#pragma once

#include <warpalign/backend/stages/refinement/deformation_grid.hpp>
#include <warpalign/geometry.hpp>
#include <warpalign/pixel.hpp>
#include <warpalign/registrar.hpp>

#include <array>
#include <vector>

namespace warpalign::detail {

/// In pixels, along the axes with the smallest spacing.
constexpr double default_grid_spacing = RegistrationOptions::default_grid_spacing;
/// Between closer control points there are too few pixels to determine them.
constexpr double min_grid_spacing = RegistrationOptions::min_grid_spacing;

/// One level. Positions and displacements are in pixels of the full images, along x, y and z.
struct DeformableLevel {
  Shape reference, moving;
  std::array<int, 3> reference_factor{1, 1, 1};  ///< full pixels per pixel of the level
  std::array<int, 3> moving_factor{1, 1, 1};
  std::array<double, 3> spacing{5, 5, 5};  ///< of the control points
  Shape grid;                              ///< the control points

  [[nodiscard]] DeformationGridSpec grid_spec() const;
};

/// The levels, finest first. At the finest one, control points are `grid_spacing` pixels apart
/// along the axes with the smallest spacing. At the others, they are as many pixels of the level
/// apart, or, if that is more than 5, about 5 pixels of the level, or as far as at the finest one.
/// Every second control point of a level, or each of them, is one of the next coarser level.
/// `spacing`: between pixels, in any unit.
[[nodiscard]] std::vector<DeformableLevel> deformable_levels(
    const Shape& reference, const Point3& reference_spacing, const Shape& moving,
    const Point3& moving_spacing, double grid_spacing = default_grid_spacing);

/// The control points of a grid for an image of this shape.
[[nodiscard]] Shape grid_shape(const Shape& image, const std::array<double, 3>& spacing);

/// The position of control point 0 is one spacing before the first pixel.
[[nodiscard]] inline double control_origin(double spacing) { return -spacing; }

}  // namespace warpalign::detail
