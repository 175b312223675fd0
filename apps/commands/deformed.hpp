// Resamples images and volumes by the transform of a deformable registration.
#pragma once

#include "io/array_file.hpp"
#include "io/image_file.hpp"

#include <warpalign/deformation.hpp>
#include <warpalign/device.hpp>

#include <cstdint>
#include <vector>

namespace warpalign::program {

/// The moving array (of 2 or 3 axes) at the transformed pixels of a grid, by its cubic spline; 0
/// outside. Has the moving array's type. `extents`: of the grid, slowest axis first.
[[nodiscard]] Array deformed(const Device& device, const Array& moving,
                             const std::vector<std::int64_t>& extents, const Transform& transform);
/// The same for all channels of an image.
[[nodiscard]] LoadedImage deformed(const Device& device, const LoadedImage& moving,
                                   const Shape& grid, const Transform& transform);

/// The displacements T(p) - p of the pixels of a grid, f32, of shape (axes, extents): along x, then
/// y, then z.
[[nodiscard]] Array displacements(const std::vector<std::int64_t>& extents,
                                  const Transform& transform);

}  // namespace warpalign::program
