// The transform near which a registration of volumes looks for its answer.
#pragma once

#include <warpalign/homogeneous_matrix.hpp>
#include <warpalign/volume_registrar.hpp>

#include <array>

namespace warpalign::detail {

/// The first three rows of an affine transform from voxels of the reference to voxels of the moving
/// volume.
using VoxelRows = std::array<double, 12>;

/// Throws Error(invalid_argument) if a transform is not affine, not finite, singular, or mirrors
/// space, which no registration does.
[[nodiscard]] VoxelRows checked_initial(const HomogeneousMatrix& transform);

/// Throws Error(invalid_argument) if the transform maps every point of the reference outside of the
/// moving volume, or if the options exclude it.
void check_initial(const VoxelRows& rows, const VolumeRegistrationOptions& options,
                   const Shape& reference, const Shape& moving);

}  // namespace warpalign::detail
