// FSL's coordinates of a volume.
#pragma once

#include <warpalign/transform.hpp>

namespace warpalign::transform_files {

struct Geometry;

/// Maps voxels to FSL's millimetres: along the axes of the voxels from the first voxel's centre.
/// Where the volume's axes are right-handed, x runs from the last voxel to the first (FSL's
/// "newimage" coordinates).
[[nodiscard]] HomogeneousMatrix fsl_millimetres(const PointGrid& volume);
/// Throws Error, with the name of the file's kind, unless both images are known.
void need_both(const Geometry& geometry, const char* kind);

}  // namespace warpalign::transform_files
