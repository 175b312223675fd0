// FreeSurfer's description of a volume's position.
#pragma once

#include <warpalign/transform.hpp>

#include <array>

namespace warpalign::transform_files {

/// The number and size of a volume's voxels, and its axes in RAS coordinates.
struct FreeSurferVolume {
  std::array<double, 3> size{}, spacing{};
  std::array<std::array<double, 3>, 3> direction{};  ///< of each axis
  /// The point at half of the volume's size: half a voxel beyond the middle of its voxels' centres.
  std::array<double, 3> centre{};
};

/// The voxels in LPS coordinates. Throws Error(invalid_argument).
[[nodiscard]] PointGrid grid_of(const FreeSurferVolume& volume);
[[nodiscard]] FreeSurferVolume freesurfer_volume_of(const PointGrid& grid);

}  // namespace warpalign::transform_files
