// Refuses a match of two volumes of one contrast of which only the outlines agree. It compares
// intensities; structure/structure_agreement.hpp compares the directions of gradients, of any
// contrast, and accepts matches that the correlation missed.
#pragma once

#include "registration/volume/geometry/volume_grid.hpp"

#include <array>
#include <vector>

namespace warpalign::detail {

/// The values of a level of a volume; NaN where voxels are masked.
struct LevelValues {
  std::vector<float> values;
  Shape shape;
};

/// 0 to 1, from the correlation of the structure within the outlines (structure_correlation.hpp),
/// at a level of at most about 32 voxels along each side: noise is averaged there. 1 for volumes
/// that have no such structure. `rows`: from voxels of the reference to those of the moving volume.
[[nodiscard]] double confidence_within_outlines(const LevelValues& reference,
                                                const LevelValues& moving,
                                                const std::array<double, 12>& rows);

}  // namespace warpalign::detail
