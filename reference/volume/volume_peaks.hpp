// The oracle of the highest peaks of a volume.
#pragma once

#include "reference/volume.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <vector>

namespace reference {

struct VolumePeak {
  double value = 0;
  std::array<std::int64_t, 3> at{};
};

/// The periodic distance of two voxels along an axis of n.
inline std::int64_t distance_around(std::int64_t a, std::int64_t b, std::int64_t n) {
  return std::min((a - b + n) % n, (b - a + n) % n);
}

/// The maxima of bricks of 8 x 4 x 4 voxels, of those that lie within `reach` of voxel 0 along each
/// axis (0: no limit) and are not NaN; the highest first. Of equal values the first one counts.
inline std::vector<VolumePeak> brick_maxima(const Volume& volume,
                                            const std::array<std::int64_t, 3>& reach) {
  std::map<std::array<std::int64_t, 3>, VolumePeak> bricks;  // in the order of z, y, x
  for_each_voxel(volume.extents(), [&](std::int64_t x, std::int64_t y, std::int64_t z) {
    const std::array<std::int64_t, 3> at{x, y, z};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const std::int64_t far = distance_around(at[axis], 0, volume.extents()[axis]);
      if (reach[axis] > 0 && far > reach[axis]) return;
    }
    const VolumePeak here{volume.at(x, y, z), at};
    if (here.value != here.value) return;
    const auto [brick, is_new] = bricks.try_emplace({z / 4, y / 4, x / 8}, here);
    if (!is_new && here.value > brick->second.value) brick->second = here;
  });
  std::vector<VolumePeak> maxima;
  for (const auto& [brick, peak] : bricks) maxima.push_back(peak);
  std::stable_sort(maxima.begin(), maxima.end(),
                   [](const VolumePeak& a, const VolumePeak& b) { return a.value > b.value; });
  return maxima;
}

/// The highest of these maxima, at most `count`, without those within two voxels of a higher one
/// along every axis.
inline std::vector<VolumePeak> volume_peaks(const Volume& volume,
                                            const std::array<std::int64_t, 3>& reach, int count) {
  std::vector<VolumePeak> peaks;
  for (const VolumePeak& peak : brick_maxima(volume, reach)) {
    const auto beside = [&](const VolumePeak& higher) {
      for (std::size_t axis = 0; axis < 3; ++axis) {
        if (distance_around(peak.at[axis], higher.at[axis], volume.extents()[axis]) > 2) {
          return false;
        }
      }
      return true;
    };
    if (peaks.size() == static_cast<std::size_t>(count)) break;
    if (std::none_of(peaks.begin(), peaks.end(), beside)) peaks.push_back(peak);
  }
  return peaks;
}

}  // namespace reference
