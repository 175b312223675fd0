// The levels of a deformable registration: images from coarse to fine, and their grids.
#pragma once

#include <warpalign/backend/stages/refinement/deformation_grid.hpp>
#include <warpalign/geometry.hpp>
#include <warpalign/pixel.hpp>

#include <array>
#include <vector>

namespace warpalign::detail {

/// One level. Positions and displacements are in pixels of the full images, along x, y and z.
struct DeformableLevel {
  Shape reference, moving;
  std::array<int, 3> reference_factor{1, 1, 1};  ///< full pixels per pixel of the level
  std::array<int, 3> moving_factor{1, 1, 1};
  std::array<double, 3> spacing{5, 5, 5};  ///< of the control points
  Shape grid;                              ///< the control points

  [[nodiscard]] DeformationGridSpec grid_spec() const;
};

/// The levels, finest first. Control points are as far apart as 5 pixels of the level along the
/// axes with the smallest spacing, so that those of a level are every second one of the next finer
/// level. `spacing`: between pixels, in any unit.
[[nodiscard]] std::vector<DeformableLevel> deformable_levels(const Shape& reference,
                                                             const Point3& reference_spacing,
                                                             const Shape& moving,
                                                             const Point3& moving_spacing);

/// The position of control point 0 is one spacing before the first pixel.
[[nodiscard]] inline double control_origin(double spacing) { return -spacing; }

}  // namespace warpalign::detail
