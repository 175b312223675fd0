// The oracle of volumes in which NaN marks masked voxels.
#pragma once

#include "reference/volume.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

namespace reference {

/// NaN where the mask is 0.
inline Volume marked(const Volume& volume, const Volume& mask) {
  Volume result = volume;
  for (std::size_t i = 0; i < result.values.size(); ++i) {
    if (mask.values[i] == 0) result.values[i] = std::numeric_limits<double>::quiet_NaN();
  }
  return result;
}

/// Whether no voxel from `first` to `last` is NaN. All of them exist.
inline bool all_count(const Volume& volume, const std::array<std::int64_t, 3>& first,
                      const std::array<std::int64_t, 3>& last) {
  for (std::int64_t z = first[2]; z <= last[2]; ++z) {
    for (std::int64_t y = first[1]; y <= last[1]; ++y) {
      for (std::int64_t x = first[0]; x <= last[0]; ++x) {
        if (std::isnan(volume.at(x, y, z))) return false;
      }
    }
  }
  return true;
}

/// Whether neither a voxel nor one of its six neighbours is NaN. All of them exist.
inline bool neighbours_count(const Volume& volume, const std::array<std::int64_t, 3>& at) {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    auto first = at, last = at;
    --first[axis];
    ++last[axis];
    if (!all_count(volume, first, last)) return false;
  }
  return true;
}

/// Whether none of the cubic spline's 4 x 4 x 4 coefficients in a cell is NaN. All of them exist.
inline bool spline_counts(const Volume& moving, const std::array<std::int64_t, 3>& cell) {
  return all_count(moving, {cell[0] - 1, cell[1] - 1, cell[2] - 1},
                   {cell[0] + 2, cell[1] + 2, cell[2] + 2});
}

}  // namespace reference
