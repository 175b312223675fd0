// The oracle of the edge strength in volumes.
#pragma once

#include "reference/volume.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace reference {

/// The difference between the nearest existing voxels on either side of voxel `at`, divided by
/// their distance: numpy.gradient. 0 if there is no other voxel along the axis.
inline double slope(const Volume& volume, const std::array<std::int64_t, 3>& at, std::size_t axis,
                    double spacing) {
  auto before = at;
  auto after = at;
  before[axis] = std::max<std::int64_t>(at[axis] - 1, 0);
  after[axis] = std::min(at[axis] + 1, volume.extents()[axis] - 1);
  if (before == after) return 0;
  const double rise =
      volume.at(after[0], after[1], after[2]) - volume.at(before[0], before[1], before[2]);
  return rise / (static_cast<double>(after[axis] - before[axis]) * spacing);
}

/// The length of the gradient.
inline Volume gradient_lengths(const Volume& volume, const std::array<double, 3>& spacing) {
  Volume lengths(volume.width, volume.height, volume.depth);
  for_each_voxel(volume.extents(), [&](std::int64_t x, std::int64_t y, std::int64_t z) {
    lengths.at(x, y, z) =
        std::hypot(slope(volume, {x, y, z}, 0, spacing[0]), slope(volume, {x, y, z}, 1, spacing[1]),
                   slope(volume, {x, y, z}, 2, spacing[2]));
  });
  return lengths;
}

/// g / (g + epsilon), with g the length of the gradient. Haber & Modersitzki 2006 divide by the
/// root of the sum of squares instead.
inline Volume edge_strengths(const Volume& volume, const std::array<double, 3>& spacing,
                             double epsilon) {
  Volume strengths = gradient_lengths(volume, spacing);
  for (double& value : strengths.values) value /= value + epsilon;
  return strengths;
}

}  // namespace reference
