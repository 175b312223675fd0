// What the options of a registration of volumes say about the deformation.
#pragma once

#include "registration/deformation/deformable_fit.hpp"

#include <warpalign/volume_registrar.hpp>

namespace warpalign::detail {

/// Throws Error(invalid_argument) for options of the grid that are out of range, or given for
/// another motion. Spacings must have been checked.
void check_deformation(const VolumeRegistrationOptions& options);

/// Throws Error(invalid_argument) if the grid spacing exceeds the longest side of the reference.
void check_grid_fits(const VolumeRegistrationOptions& options, const Shape& reference);

/// With the grid spacing in voxels along the axis with the smallest spacing.
[[nodiscard]] DeformableSettings deformable_settings(const VolumeRegistrationOptions& options);

/// The options with the default grid, if their grid depends on the images.
[[nodiscard]] VolumeRegistrationOptions with_default_grid(VolumeRegistrationOptions options);

}  // namespace warpalign::detail
