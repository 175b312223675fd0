// FreeSurfer's description of a volume's position.
#include "freesurfer.hpp"

#include "matrices.hpp"
#include "text.hpp"

#include <cstddef>
#include <cstdint>

namespace warpalign::transform_files {

PointGrid grid_of(const FreeSurferVolume& volume) {
  HomogeneousMatrix matrix;
  std::array<std::int64_t, 3> shape{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double size = volume.size[axis];
    if (!(size >= 1) || !(size <= 1 << 30)) refuse("'volume' has an invalid size");
    shape[axis] = static_cast<std::int64_t>(size);
    for (std::size_t row = 0; row < 3; ++row) {
      matrix.m[4 * row + axis] = volume.direction[axis][row] * volume.spacing[axis];
      matrix.m[4 * row + 3] -= matrix.m[4 * row + axis] * static_cast<double>(shape[axis]) / 2;
    }
  }
  for (std::size_t row = 0; row < 3; ++row) matrix.m[4 * row + 3] += volume.centre[row];
  return grid_of({shape[0], shape[1], shape[2]}, product(lps_ras(), matrix));
}

FreeSurferVolume freesurfer_volume_of(const PointGrid& grid) {
  const HomogeneousMatrix ras = product(lps_ras(), grid.index_to_point());
  FreeSurferVolume volume;
  volume.size = {static_cast<double>(grid.shape.width), static_cast<double>(grid.shape.height),
                 static_cast<double>(grid.shape.depth)};
  volume.spacing = {grid.spacing.x, grid.spacing.y, grid.spacing.z};
  for (std::size_t row = 0; row < 3; ++row) {
    volume.centre[row] = ras.m[4 * row + 3];
    for (std::size_t axis = 0; axis < 3; ++axis) {
      volume.direction[axis][row] = ras.m[4 * row + axis] / volume.spacing[axis];
      volume.centre[row] += ras.m[4 * row + axis] * volume.size[axis] / 2;
    }
  }
  return volume;
}

}  // namespace warpalign::transform_files
