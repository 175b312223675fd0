// Small volumes in host memory, on which the structure of two volumes is compared.
#pragma once

#include "registration/volume/geometry/volume_grid.hpp"

#include <warpalign/pixel.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace warpalign::detail {

/// Intensities on a grid, x fastest. NaN marks voxels that are masked or missing.
struct OverviewVolume {
  VolumeGrid grid;
  std::vector<float> values;

  [[nodiscard]] std::size_t index(std::int64_t x, std::int64_t y, std::int64_t z) const {
    return static_cast<std::size_t>((z * grid.shape.height + y) * grid.shape.width + x);
  }
  /// The trilinear interpolation at a position in voxels; NaN beyond the outermost centres.
  [[nodiscard]] float at(double x, double y, double z) const;
};

/// The volume with cubic voxels of this size in millimetres, about the same centre, smoothed
/// against aliasing. A voxel is NaN if less than half of what it averages is known.
[[nodiscard]] OverviewVolume isotropic(const OverviewVolume& volume, double spacing);

/// `moving` at the voxels of `reference`, where `transform` maps positions of the reference.
[[nodiscard]] std::vector<float> resampled(const OverviewVolume& moving,
                                           const VolumeGrid& reference,
                                           const SpatialTransform& transform);

/// 1 for voxels that are known, 0 for NaN.
[[nodiscard]] std::vector<float> known_voxels(const std::vector<float>& values);

/// The largest connected object that is brighter than the background, without its holes. The
/// threshold lies midway between Otsu's threshold and the mean of what is below it, because the
/// darker tissues belong to the object.
[[nodiscard]] std::vector<bool> foreground(const std::vector<float>& values, const Shape& shape);

/// The mean position of a mask, in millimetres from the volume's centre.
[[nodiscard]] Vector3 centroid(const std::vector<bool>& mask, const VolumeGrid& grid);

}  // namespace warpalign::detail
