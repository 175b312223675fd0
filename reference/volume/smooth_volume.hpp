// The oracle of smoothed volumes in which NaN marks masked voxels.
#pragma once

#include "reference/volume.hpp"

#include <array>
#include <cstdint>

namespace reference {

/// sum_k volume(k) beta_3(p - k) at the voxels p, reflected about the outermost ones. The cubic
/// B-spline is 2/3 at 0 and 1/6 at 1 (Unser 1999); NaN times a weight is NaN.
inline Volume smoothed_by_spline(const Volume& volume) {
  Volume result(volume.width, volume.height, volume.depth);
  const auto reflected = [&](std::int64_t i, std::size_t axis) {
    const std::int64_t last = volume.extents()[axis] - 1;
    if (last == 0) return std::int64_t{0};
    return i < 0 ? -i : i > last ? 2 * last - i : i;
  };
  const std::array<double, 3> weights{1.0 / 6, 2.0 / 3, 1.0 / 6};
  for_each_voxel(volume.extents(), [&](std::int64_t x, std::int64_t y, std::int64_t z) {
    double sum = 0;
    for_each_voxel({3, 3, 3}, [&](std::int64_t i, std::int64_t j, std::int64_t k) {
      sum += weights[static_cast<std::size_t>(i)] * weights[static_cast<std::size_t>(j)] *
             weights[static_cast<std::size_t>(k)] *
             volume.at(reflected(x + i - 1, 0), reflected(y + j - 1, 1), reflected(z + k - 1, 2));
    });
    result.at(x, y, z) = sum;
  });
  return result;
}

}  // namespace reference
