// What NIfTI headers say about the transform between two volumes.
#pragma once

#include <warpalign/geometry.hpp>
#include <warpalign/homogeneous_matrix.hpp>
#include <warpalign/registrar.hpp>

#include <array>
#include <optional>

namespace warpalign::program {

/// The transform by which two headers place voxels of the reference on those of the moving volume.
/// Both arguments map indices to the same space.
[[nodiscard]] HomogeneousMatrix header_transform(const HomogeneousMatrix& reference_to_world,
                                                 const HomogeneousMatrix& moving_to_world);

/// The nearest transform of Motion::translation: it maps the reference's centre to the same point.
[[nodiscard]] HomogeneousMatrix translation_of(const HomogeneousMatrix& transform,
                                               const Shape& reference,
                                               const std::array<double, 3>& reference_spacing,
                                               const std::array<double, 3>& moving_spacing);

/// The largest distance, in millimetres, between the corners of the reference as two transforms map
/// them to the moving volume, whose indices `moving_to_world` maps to millimetres.
[[nodiscard]] double corner_distance(const HomogeneousMatrix& a, const HomogeneousMatrix& b,
                                     const HomogeneousMatrix& moving_to_world,
                                     const Shape& reference);

/// The transform from reference to moving voxels as one of positions in millimetres.
[[nodiscard]] HomogeneousMatrix world_transform(const HomogeneousMatrix& voxels,
                                                const HomogeneousMatrix& reference_to_world,
                                                const HomogeneousMatrix& moving_to_world);

}  // namespace warpalign::program
