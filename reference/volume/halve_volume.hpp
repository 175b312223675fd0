// The oracle of halved volumes in which NaN marks masked voxels.
#pragma once

#include "reference/volume.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

namespace reference {

/// Means over boxes of `factors` voxels, of those that are not NaN; NaN if less than half of a box
/// is valid.
inline Volume means_of_boxes(const Volume& volume, const std::array<std::int64_t, 3>& factors) {
  Volume result(volume.width / factors[0], volume.height / factors[1], volume.depth / factors[2]);
  const auto all = static_cast<double>(factors[0] * factors[1] * factors[2]);
  for_each_voxel(result.extents(), [&](std::int64_t x, std::int64_t y, std::int64_t z) {
    double sum = 0, count = 0;
    for_each_voxel(factors, [&](std::int64_t i, std::int64_t j, std::int64_t k) {
      const double value = volume.at(x * factors[0] + i, y * factors[1] + j, z * factors[2] + k);
      if (std::isnan(value)) return;
      sum += value;
      count += 1;
    });
    result.at(x, y, z) = count >= all / 2 ? sum / count : std::numeric_limits<double>::quiet_NaN();
  });
  return result;
}

}  // namespace reference
